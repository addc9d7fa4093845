// The bytes of the arena that an action reads or writes, on any rank.
#ifndef XLC_LIB_MEMORY_ACTIONACCESSES_H
#define XLC_LIB_MEMORY_ACTIONACCESSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Support/ByteRanges.h"

namespace xlc {

class ActionAccesses {
public:
  /// Requires a program whose buffers have their offsets.
  explicit ActionAccesses(exec::ProgramOp program);

  /// A slot of a function that is read and written is visited as written. A release counts as a write: later users of
  /// the bytes must not move before it.
  void forEach(exec::Action action, llvm::function_ref<void(ByteRange bytes, bool writes)> visit);

private:
  struct Slot {
    int64_t bytes = 0;
    bool isRead = false, isWritten = false;
  };
  using Slots = llvm::SmallVector<Slot>;

  const Slots &slotsOf(exec::RunOp run);
  /// `bytes` from a place on; if shards differ in their place, the union over all of them.
  ByteRange at(exec::PlaceAttr place, int64_t bytes) const;
  ByteRange untilEnd(exec::PlaceAttr place) const;

  mlir::SymbolTable symbols;
  int64_t lastShard;
  std::vector<ByteRange> buffers;
  llvm::DenseMap<mlir::Attribute, Slots> functions; ///< what they do with their slots, by name
};

} // namespace xlc

#endif
