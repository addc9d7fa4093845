// The ops of `dist`: exchanges between ranks that run a function in lockstep.
#ifndef XLC_LIB_INTERPRET_OPS_COLLECTIVES_H
#define XLC_LIB_INTERPRET_OPS_COLLECTIVES_H

#include "xlc/Dialect/Dist/Dist.h"
#include "xlc/Interpret/Interpret.h"

namespace xlc::interpret {

/// Whether the op is of the dialect `dist`.
inline bool isCollective(mlir::Operation *op) { return llvm::isa<dist::DistDialect>(op->getDialect()); }

/// Computes the results of all ranks from the operands of all ranks; `operands` is empty for axis_index. A group that
/// names a nonexistent rank is an error.
template <class E>
llvm::LogicalResult collect(mlir::Operation *op, llvm::ArrayRef<const Datum<E> *> operands, size_t ranks,
                            std::vector<Datum<E>> &results);

} // namespace xlc::interpret

#endif
