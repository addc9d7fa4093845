// Converts library calls of the plan to the types of LibraryShapes.h, which the libraries of every device use.
#ifndef XLC_LIB_RUNTIME_PLAN_SHAPES_H
#define XLC_LIB_RUNTIME_PLAN_SHAPES_H

#include "Plan.h"

#include "xlc/Runtime/LibraryShapes.h"

#include <vector>

namespace xlc::runtime {

/// F32, BF16 or F16; others are rejected when the plan is read.
FloatType floatOf(plan::Element element);

ContractShape shapeOf(const plan::ContractT &contract);
AttentionShape shapeOf(const plan::AttentionT &attention);
ConvolutionShape shapeOf(const plan::ConvolutionT &convolution);
std::vector<WindowDim> dimsOf(const std::vector<plan::WindowDim> &dims);

} // namespace xlc::runtime

#endif
