// Where the values of a kernel go: each result has a place in memory, to which a call writes or adds; what sums
// columns over chunks of rows is kept in registers until the chunk's rows are done.
#ifndef XLC_LIB_LOWER_KERNELRESULTS_H
#define XLC_LIB_LOWER_KERNELRESULTS_H

#include "Mapping.h"

namespace xlc::lower {

struct Result {
  mlir::Value value;
  Memory memory;
  mlir::Value adds; ///< i1: added to what is there; null: never
  llvm::ArrayRef<int64_t> shape;
};
using Results = llvm::ArrayRef<const Result *>;

/// What a result sums up for the columns of each chunk of rows; null: it is none of these.
graph::ReduceOp findChunkSum(const Result &result);

class ResultStores {
public:
  ResultStores(KernelEmitter &e, Mapping &mapping) : e(e), mapping(mapping) {}

  /// Stores, or adds to what is there; what is there is read only then.
  void store(const Result &result, llvm::ArrayRef<Index> indices, const Lanes &lanes, mlir::Value value);
  llvm::SmallVector<mlir::Value> evaluateAll(Results which, llvm::ArrayRef<Indices> indices, const Lanes &lanes);
  void storeAll(Results which, llvm::ArrayRef<Indices> indices, const Lanes &lanes, llvm::ArrayRef<mlir::Value> values);
  /// Evaluates `which` results, all before the first is stored.
  void evaluateAndStore(Results which, llvm::ArrayRef<Indices> indices, const Lanes &lanes);

private:
  /// Sixteen bits are added as f32 and rounded once.
  mlir::Value add(mlir::Value value, mlir::Value old, mlir::Type element);

  KernelEmitter &e;
  Mapping &mapping;
};

/// Sums over the rows of a chunk, for those columns whose elements a worker has of each row of `size`.
class ColumnSums {
public:
  ColumnSums(KernelEmitter &e, Mapping &mapping, int64_t size, Results which)
      : e(e), mapping(mapping), size(size), which(which) {}

  /// Before the first row.
  llvm::SmallVector<mlir::Value> begin();
  /// With what a row adds.
  llvm::SmallVector<mlir::Value> add(const Index &row, mlir::ValueRange sums);
  void store(const Index &chunk, llvm::ArrayRef<mlir::Value> sums, ResultStores &stores);
  /// Calls `body` for what a worker has of a row, in an order that is always the same.
  void forKept(llvm::function_ref<void(const Index &position, const Lanes &lanes)> body);

private:
  KernelEmitter &e;
  Mapping &mapping;
  const int64_t size;
  const Results which;
};

} // namespace xlc::lower

#endif
