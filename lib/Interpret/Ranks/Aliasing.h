// A call whose outs take the place of its ins: what its kernel reads depends on what it has written by then.
#ifndef XLC_LIB_INTERPRET_RANKS_ALIASING_H
#define XLC_LIB_INTERPRET_RANKS_ALIASING_H

#include "Memory.h"
#include "xlc/Interpret/Interpret.h"

namespace xlc::interpret {

/// A call about to write: where its operands stand, what was read, what comes out.
template <class E> struct PendingCall {
  mlir::func::FuncOp kernel;
  llvm::ArrayRef<Span> ins, outs;
  llvm::ArrayRef<Datum<E>> arguments, results;
};

/// Fails with a message where an element of the results is another one once others have been written over the
/// operands: kernels write in whatever order, so each must need its own element only. The memory is left as it was.
template <class E>
llvm::LogicalResult verifyInPlace(Memory<E> &memory, const Access &access, const PendingCall<E> &call,
                                  const Options &options);

} // namespace xlc::interpret

#endif
