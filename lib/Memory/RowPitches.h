// Values whose rows begin at addresses that suit the target, with a gap after each row. Logits of 50257 words in a
// 16-bit type have rows of 100514 bytes: matrix units and vectors of a GPU read them at a fraction of the speed of rows
// with a pitch of 100608 bytes.
#ifndef XLC_LIB_MEMORY_ROWPITCHES_H
#define XLC_LIB_MEMORY_ROWPITCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Kernels/Views.h"
#include "xlc/Target/Target.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace xlc {

/// Requires a module's unit functions before they have slots. A value has gaps if the target requests them
/// (Target::rowPitch), and all its producers and users, in all runs, are generated kernels or products that accept
/// them. Values exchanged between ranks, parameters, gradients and pieces of a concat have none.
class RowPitches {
public:
  RowPitches(llvm::ArrayRef<sched::RunOp> runs, const mlir::SymbolTable &symbols, const Target &target);

  bool hasGaps(mlir::Value value) const { return pitched.contains(value); }
  /// The value's own layout in its slot, and the type of the slot, whose elements are contiguous.
  MemoryLayout layoutOf(mlir::Value value) const;
  mlir::MemRefType slotOf(mlir::Value value) const;

private:
  int64_t pitchOf(mlir::Value value) const;
  MemoryLayout layoutWithGaps(mlir::Value value) const;
  bool isTakenWithGaps(mlir::Value value) const;
  bool isReadAs(const MemoryLayout &layout, mlir::Value value) const;
  bool takes(mlir::func::CallOp call, const MemoryLayout &layout, mlir::Value value) const;
  void joinCalls(mlir::func::FuncOp function);
  void joinRuns(llvm::ArrayRef<sched::RunOp> runs);
  /// Makes both have gaps, or neither.
  void join(mlir::Value value, mlir::Value other);

  const mlir::SymbolTable &symbols;
  const Target &target;
  llvm::DenseSet<mlir::Value> pitched;
  llvm::EquivalenceClasses<mlir::Value> same;
  llvm::SmallVector<mlir::Value> dense; ///< have none, and so none of their class has
};

} // namespace xlc

#endif
