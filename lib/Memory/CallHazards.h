// What may go wrong between the calls of one function, and within one call, though every buffer is alive and in its
// place: sums that are read before they are complete or overwritten, results that overwrite what is still to be read.
#ifndef XLC_LIB_MEMORY_CALLHAZARDS_H
#define XLC_LIB_MEMORY_CALLHAZARDS_H

#include "mlir/IR/SymbolTable.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Support/ByteRanges.h"

namespace xlc {

/// The number of the argument that an operand is, or is a view of.
unsigned slotOf(mlir::Value operand);

/// Of a function, whatever its slots are bound to: views lie inside their slots, and where one call adds to a slot, all
/// that write it do.
llvm::LogicalResult verifySlots(mlir::func::FuncOp function);

/// Of a run, whose places bind the slots to bytes of the arena: nothing reads a sum that the same function adds to, and
/// a call's results overwrite no operand but element by element, after it was read. `symbols` are those of the module.
llvm::LogicalResult verifyHazards(exec::RunOp run, mlir::func::FuncOp function, const mlir::SymbolTable &symbols,
                                  llvm::ArrayRef<ByteRange> slots);

} // namespace xlc

#endif
