// The `exec` dialect in C++. See docs/rationale/Exec.md.
#ifndef XLC_DIALECT_EXEC_EXEC_H
#define XLC_DIALECT_EXEC_EXEC_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Dist/Dist.h"

#include "xlc/Dialect/Exec/ExecEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Exec/ExecAttrs.h.inc"

#include "xlc/Dialect/Exec/ExecDialect.h.inc"

#include "xlc/Dialect/Exec/ExecInterfaces.h.inc"

namespace xlc::exec {
/// Whether the actions of a stream compute and therefore share the device. The others wait for links and files.
inline bool computes(Stream stream) { return stream == Stream::compute || stream == Stream::weights; }

/// Whether a state contains the parameters of a bucket as units read them.
inline bool isRead(StateKind kind) { return kind == StateKind::value || kind == StateKind::running_average; }
/// Whether it is one number of a rank.
inline bool isNumber(StateKind kind) {
  return kind == StateKind::counter || kind == StateKind::result || kind == StateKind::index || kind == StateKind::site;
}
/// Whether it has a tensor for each member of a bucket.
inline bool isOfBucket(StateKind kind) { return !isNumber(kind) && kind != StateKind::members; }

/// The operation of a collective, in a function (exec.collective) or between functions (exec.exchange).
struct Exchange {
  dist::CollectiveKind kind;
  dist::GroupAttr group;
  mlir::Type element;
  int64_t outer, chunk;
  int64_t rows = 1; ///< of an all_to_all, as `ranksFirst`
  bool ranksFirst = false;
  bool accumulate = false; ///< adds to dst instead of writing
  /// of a sum: the type to which each rank's elements and the result are rounded; null: not rounded
  mlir::Type wire = {};

  /// The number of elements that a rank sends, and that it receives.
  int64_t sourceElements() const;
  int64_t resultElements() const;
};
} // namespace xlc::exec

namespace xlc::exec {
/// An op that a run of its function executes: the call of a kernel, or a collective. A view is not one.
template <typename ConcreteOp> class Inner : public mlir::OpTrait::TraitBase<ConcreteOp, Inner> {};
} // namespace xlc::exec

#define GET_OP_CLASSES
#include "xlc/Dialect/Exec/ExecOps.h.inc"

namespace xlc::exec {
/// The programs of a module with a purpose, in their order.
llvm::SmallVector<ProgramOp> programsOf(mlir::ModuleOp module, graph::Purpose purpose = graph::Purpose::train);

/// Of a function: its kind of kernel; none if it is not a kernel.
std::optional<KernelKind> findKernelKind(mlir::Operation *function);
void setKernelKind(mlir::Operation *function, KernelKind kind);

/// On a slot of a function: the group whose rank index a run binds to it.
inline constexpr llvm::StringLiteral kIndex = "exec.index";
/// On a slot of a function: the name of the number of the step (StepNumbers.h) that a run binds to it.
inline constexpr llvm::StringLiteral kStepNumber = "exec.step_number";
/// Attributes of a function's slots: the name and the cause of the buffer that a run binds to it.
inline constexpr llvm::StringLiteral kSlotName = "exec.name";
} // namespace xlc::exec

#endif
