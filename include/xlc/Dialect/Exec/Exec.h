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
/// Whether the actions of a stream compute, so that they share the device. What others do waits for links and files.
inline bool computes(Stream stream) { return stream == Stream::compute || stream == Stream::weights; }

/// Whether a state holds the parameters of a bucket as units read them.
inline bool isRead(StateKind kind) { return kind == StateKind::value || kind == StateKind::running_average; }
/// Whether it is one number of a rank.
inline bool isNumber(StateKind kind) {
  return kind == StateKind::counter || kind == StateKind::result || kind == StateKind::index || kind == StateKind::site;
}
/// Whether it has a tensor for each member of a bucket.
inline bool isOfBucket(StateKind kind) { return !isNumber(kind) && kind != StateKind::members; }

/// What a collective does, in a function (exec.collective) or between functions (exec.exchange).
struct Exchange {
  dist::CollectiveKind kind;
  dist::GroupAttr group;
  mlir::Type element;
  int64_t outer, chunk;
  int64_t rows = 1; ///< of an all_to_all, as `ranksFirst`
  bool ranksFirst = false;
  bool accumulate = false; ///< adds to dst instead of writing
  mlir::Type wire = {}; ///< of a sum: what each rank's elements are rounded to, and what comes of them; null: nothing

  /// Elements that a rank gives, and that it gets.
  int64_t sourceElements() const;
  int64_t resultElements() const;
};
} // namespace xlc::exec

namespace xlc::exec {
/// An op of a function that a run does something for: a kernel's call or a collective. A view is none.
template <typename ConcreteOp> class Inner : public mlir::OpTrait::TraitBase<ConcreteOp, Inner> {};
} // namespace xlc::exec

#define GET_OP_CLASSES
#include "xlc/Dialect/Exec/ExecOps.h.inc"

namespace xlc::exec {
/// The programs of a module that are for a purpose, in their order.
llvm::SmallVector<ProgramOp> programsOf(mlir::ModuleOp module, graph::Purpose purpose = graph::Purpose::train);

/// Of a function: the kind of kernel that it is; none where it is none.
std::optional<KernelKind> findKernelKind(mlir::Operation *function);
void setKernelKind(mlir::Operation *function, KernelKind kind);

/// On a slot of a function: the group in which a run binds it to the rank's index.
inline constexpr llvm::StringLiteral kIndex = "exec.index";
/// On a slot of a function: the name of the number of the step (StepNumbers.h) to which a run binds it.
inline constexpr llvm::StringLiteral kStepNumber = "exec.step_number";
/// Attributes of a function's slots: the name and the cause of the buffer that a run gives it.
inline constexpr llvm::StringLiteral kSlotName = "exec.name";
} // namespace xlc::exec

#endif
