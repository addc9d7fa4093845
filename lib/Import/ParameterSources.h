// The locations of the initial values of parameters, and their roles for an optimizer.
#ifndef XLC_IMPORT_PARAMETERSOURCES_H
#define XLC_IMPORT_PARAMETERSOURCES_H

#include "Parameters.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Import/Import.h"

namespace xlc::onnx {

/// Adds one source for each parameter of the plan, in the order of the arguments of `forward`. Values in the model's
/// file are read; an error names a tensor that cannot be read.
void describeParameters(Model &model, const ParameterPlan &plan, mlir::func::FuncOp forward,
                        std::vector<ParameterSource> &sources, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
