// The schedule of learning rates (include/xlc/Runtime/RateSchedules.h) as an attribute of a module.
#ifndef XLC_DIALECT_GRAPH_SCHEDULE_H
#define XLC_DIALECT_GRAPH_SCHEDULE_H

#include "xlc/Runtime/RateSchedules.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir {
class Attribute;
class DictionaryAttr;
class InFlightDiagnostic;
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace xlc::graph {

/// Module attribute: a dictionary with the type of a schedule and the values that the spec gives, by the names of their
/// keys. Without it the learning rates are constant.
inline constexpr llvm::StringLiteral kSchedule = "graph.lr_schedule";

mlir::DictionaryAttr toAttribute(const runtime::RateSchedule &schedule, mlir::MLIRContext *context);
/// Fails if `attribute` is not a dictionary of that form.
llvm::LogicalResult verifySchedule(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::Attribute attribute);
/// The schedule of a module, with the rate of its first group; a constant one if the module has none.
runtime::RateSchedule scheduleOf(mlir::ModuleOp module);

} // namespace xlc::graph

#endif
