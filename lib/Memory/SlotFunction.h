// A unit function on memory: every value gets a slot, every kernel call an exec.call.
#ifndef XLC_LIB_MEMORY_SLOTFUNCTION_H
#define XLC_LIB_MEMORY_SLOTFUNCTION_H

#include "RowPitches.h"
#include "SetProductsApart.h"
#include "xlc/Memory/Memory.h"

namespace xlc {

/// Properties of a unit function that the timeline determines.
struct Signature {
  int64_t params = 0, stores = 0;        ///< last arguments, last results
  llvm::SmallVector<int32_t> accumulate; ///< exec::Accumulate of each store
  llvm::SmallVector<bool> dies;          ///< per activation argument: nobody reads it after any run
  std::optional<Apart> apart;            ///< the last of its calls, where they run apart
};

/// Replaces `function` (kernel calls, views, concats in place) by one whose arguments are slots: its arguments, its
/// results, temporaries, workspace. Each slot carries its name. Fails if no library of the target supports a layout or
/// an element type. `kernels` are the module's symbols.
mlir::FailureOr<mlir::func::FuncOp> lowerToSlots(mlir::func::FuncOp function, const mlir::SymbolTable &kernels,
                                                 const Signature &signature, const RowPitches &pitches,
                                                 const Target &target, int threads);

} // namespace xlc

#endif
