// The parameters of a model according to a state dict. See StateDictPlan.cpp.
#ifndef XLC_IMPORT_STATEDICTPLAN_H
#define XLC_IMPORT_STATEDICTPLAN_H

#include "Parameters.h"

namespace xlc::onnx {

/// The plan of planParameters if `spec.init` names a state dict: no name, tie or value is guessed. The values of
/// buffers that are constants of the graph are replaced in `model`. Each change that is undone is a line on `notes`
/// (may be null).
ParameterPlan planFromStateDict(Model &model, const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics,
                                llvm::raw_ostream *notes);

} // namespace xlc::onnx

#endif
