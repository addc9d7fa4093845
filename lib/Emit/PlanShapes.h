// The shapes of library calls (LibraryShapes.h) in the plan's format.
#ifndef XLC_LIB_EMIT_PLANSHAPES_H
#define XLC_LIB_EMIT_PLANSHAPES_H

#include "Plan_generated.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Runtime/LibraryShapes.h"

namespace xlc {

plan::ContractT contractOf(const runtime::ContractShape &shape);
plan::AttentionT attentionOf(const runtime::AttentionShape &shape);
std::vector<plan::WindowDim> dimsOf(const std::vector<runtime::WindowDim> &dims);
plan::ConvolutionT convolutionOf(const runtime::ConvolutionShape &shape);

} // namespace xlc

#endif
