// Maps a kernel's loops to a target: to vectors of one thread (CpuMapping.h), or to the threads of a GPU. The
// definition of an element, the computation of a row's values before its elements, and the order in which results are
// stored are shared (EmitKernel.cpp, the rules); the differences between targets are behind this interface.
//
//     rows     independent of each other, each computed by one worker: a thread of a CPU, a group of threads of a GPU
//     lanes    elements that a worker computes at once
#ifndef XLC_LIB_LOWER_MAPPING_H
#define XLC_LIB_LOWER_MAPPING_H

#include "KernelEmitter.h"

namespace xlc::lower {

struct KernelRequest;

/// The function of a kernel on a target: its signature, the location of its operands, and target-specific code outside
/// of loops. An object serves one kernel.
class KernelFrame {
public:
  virtual ~KernelFrame() = default;

  /// Creates the kernel's function, empty but for its terminator, at the builder's insertion point. Fails with a
  /// diagnostic if the target does not support the request.
  virtual mlir::FailureOr<mlir::func::FuncOp> createFunction(mlir::OpBuilder &builder, llvm::StringRef name,
                                                             const KernelRequest &request) = 0;

  /// The memory of operand `i` of the request.
  virtual Memory bindOperand(KernelEmitter &e, size_t i) = 0;
  /// Whether the call adds to result `i`, as an i1.
  virtual mlir::Value bindAdds(KernelEmitter &e, size_t i) = 0;
  /// Loads an element or a vector of them where `condition` holds; the value is unspecified elsewhere.
  virtual mlir::Value loadWhere(KernelEmitter &e, mlir::Value condition, const Memory &memory,
                                llvm::ArrayRef<Index> indices, const Lanes &lanes) = 0;
  /// Rounds f32 to the bits of bf16 with the target's own instruction; null if the target has no such instruction that
  /// preserves subnormal numbers.
  virtual mlir::Value roundToBf16(KernelEmitter &e, mlir::Value value) = 0;
  /// The address space of constants.
  virtual unsigned constantSpace() const = 0;
};

/// The distribution of one kernel over a target. An object serves one kernel.
class Mapping {
public:
  using Kinds = llvm::ArrayRef<graph::Reduction>;
  using Values = llvm::SmallVector<mlir::Value>;
  using RowBody = llvm::function_ref<void(const Index &row)>;
  using LaneBody = KernelEmitter::LaneBody;
  using ColumnBody = llvm::function_ref<void(int64_t size, const Index &position, const Lanes &)>;
  using ElementBody = llvm::function_ref<void(const Index &row, const Index &position, const Lanes &)>;

  virtual ~Mapping() = default;

  /// The function that contains the loops.
  virtual KernelFrame &frame() = 0;

  /// Whether several workers share a reduction to one element, as they share a row.
  virtual bool sharesTotals() const = 0;
  /// Runs the kernel's work once.
  virtual void once(KernelEmitter &e, llvm::function_ref<void()> body) = 0;
  /// Independent positions of one dimension.
  virtual void forPositions(KernelEmitter &e, int64_t size, LaneBody body) = 0;
  /// Independent positions of each of these extents, each with at most `rows` rows to read. Several workers may share a
  /// position: each processes some of its rows (`forRowsOfColumn`) until the partial results are combined.
  virtual void forColumns(KernelEmitter &e, llvm::ArrayRef<int64_t> sizes, int64_t rows, ColumnBody body) = 0;
  /// Independent elements of `rows` rows of `size`.
  virtual void forElements(KernelEmitter &e, int64_t rows, int64_t size, ElementBody body) = 0;
  /// Rows of `size` elements, with values that the elements of a row share.
  virtual void forRows(KernelEmitter &e, int64_t rows, int64_t size, RowBody body) = 0;
  /// Whether the workers that share a row hold its elements in registers; forLanes does not emit a loop in this case.
  virtual bool keepsRow(int64_t size) const = 0;
  /// Runs `body` for one of several rows that a worker of forRows processes in a loop.
  virtual void withinRow(KernelEmitter &e, llvm::function_ref<void()> body) = 0;
  /// Distributes positions 0 ... size - 1 over the workers that share a row, `width` at a time; lanes describe the
  /// elements that do not fill a vector. Each worker carries its own values.
  virtual Values forLanes(KernelEmitter &e, int64_t size, int64_t width, mlir::ValueRange carried, LaneBody body) = 0;
  /// The number of elements computed at once along `size` neighbours, given the number of registers; no wider than
  /// needed.
  virtual int64_t chooseWidth(int64_t size, int64_t registers) const = 0;

  /// Whether all workers that share a row are at `indices` together, and can distribute a loop there.
  virtual bool areShared(llvm::ArrayRef<Index> indices) const = 0;
  /// Combines values over the workers that share a row, each with its kind; all of them receive the result.
  virtual Values combine(KernelEmitter &e, Kinds kinds, Values values) = 0;
  /// Whether several workers share the column at `indices`, each with some of its rows.
  virtual bool shareColumn(llvm::ArrayRef<Index> indices) const = 0;
  /// The rows of a shared column that belong to this worker.
  virtual Values forRowsOfColumn(KernelEmitter &e, int64_t rows, mlir::ValueRange carried,
                                 KernelEmitter::Body body) = 0;
  /// Combines over the workers that share a column; all of them receive the result.
  virtual Values combineColumn(KernelEmitter &e, Kinds kinds, Values values) = 0;
  /// After this, the workers that share a row may overwrite values that they have read.
  virtual void separate(KernelEmitter &e) = 0;
  /// Stores a row's own values, once.
  virtual void storeRow(KernelEmitter &e, llvm::function_ref<void()> store) = 0;
};

} // namespace xlc::lower

#endif
