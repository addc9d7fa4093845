// Stores the results of a kernel: each result has memory to which a call writes or adds. A sum of columns over chunks
// of rows stays in registers until the rows of the chunk are done.
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

/// The reduction of a result that sums columns of each chunk of rows; null for other results.
graph::ReduceOp findChunkSum(const Result &result);

class ResultStores {
public:
  ResultStores(KernelEmitter &e, Mapping &mapping) : e(e), mapping(mapping) {}

  /// Stores a value or adds it to the stored one, which is read only in the latter case.
  void store(const Result &result, llvm::ArrayRef<Index> indices, const Lanes &lanes, mlir::Value value);
  llvm::SmallVector<mlir::Value> evaluateAll(Results which, llvm::ArrayRef<Indices> indices, const Lanes &lanes);
  void storeAll(Results which, llvm::ArrayRef<Indices> indices, const Lanes &lanes, llvm::ArrayRef<mlir::Value> values);
  /// Evaluates the results `which`, all before the first is stored.
  void evaluateAndStore(Results which, llvm::ArrayRef<Indices> indices, const Lanes &lanes);

private:
  /// Adds; 16-bit types are added as f32 and rounded once.
  mlir::Value add(mlir::Value value, mlir::Value old, mlir::Type element);

  KernelEmitter &e;
  Mapping &mapping;
};

/// Sums over the rows of a chunk, for the columns whose elements a worker has in each row of `size`.
class ColumnSums {
public:
  ColumnSums(KernelEmitter &e, Mapping &mapping, int64_t size, Results which)
      : e(e), mapping(mapping), size(size), which(which) {}

  /// The values before the first row.
  llvm::SmallVector<mlir::Value> begin();
  /// The values after the contribution of a row.
  llvm::SmallVector<mlir::Value> add(const Index &row, mlir::ValueRange sums);
  void store(const Index &chunk, llvm::ArrayRef<mlir::Value> sums, ResultStores &stores);
  /// Calls `body` for a worker's part of a row, always in the same order.
  void forKept(llvm::function_ref<void(const Index &position, const Lanes &lanes)> body);

private:
  KernelEmitter &e;
  Mapping &mapping;
  const int64_t size;
  const Results which;
};

} // namespace xlc::lower

#endif
