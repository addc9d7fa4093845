// Hazards between the calls of one function, and within one call, which can occur although every buffer is live and in
// its place: sums that are read before they are complete or are overwritten, results that overwrite unread operands.
#ifndef XLC_LIB_MEMORY_CALLHAZARDS_H
#define XLC_LIB_MEMORY_CALLHAZARDS_H

#include "mlir/IR/SymbolTable.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Support/ByteRanges.h"

namespace xlc {

/// The number of the argument that an operand is, or is a view of.
unsigned slotOf(mlir::Value operand);

/// Verifies a function, for any binding of its slots: views lie inside their slots, and if one call adds to a slot, all
/// calls that write the slot add to it.
llvm::LogicalResult verifySlots(mlir::func::FuncOp function);

/// Verifies a run, whose places bind the slots to bytes of the arena: no call reads a sum that the same function adds
/// to, and a call's results overwrite operands only element by element, after the read. `symbols` are those of the
/// module.
llvm::LogicalResult verifyHazards(exec::RunOp run, mlir::func::FuncOp function, const mlir::SymbolTable &symbols,
                                  llvm::ArrayRef<ByteRange> slots);

} // namespace xlc

#endif
