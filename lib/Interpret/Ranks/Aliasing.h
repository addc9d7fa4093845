// A call whose outs replace its ins: the values that its kernel reads depend on the elements already written.
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

/// Fails with a message if an element of the results changes once others have been written over the operands: kernels
/// write in any order, so each element must depend on its own element only. The memory is restored.
template <class E>
llvm::LogicalResult verifyInPlace(Memory<E> &memory, const Access &access, const PendingCall<E> &call,
                                  const Options &options);

} // namespace xlc::interpret

#endif
