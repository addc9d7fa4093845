// Kernels for the threads of an NVIDIA GPU. Independent elements: a vector of neighbours per thread. A row: a group of
// threads, 32 (a warp) or a block of 2^k warps, which depends on the row's size alone. Thread t of n computes the
// vectors t, t + n, t + 2n ... of a row. Their width depends on the size, and on the alignment of the rows.
//
//     row of 24 vectors, n = 8 (in truth 32 or more)      t   0 1 2 3 4 5 6 7 | 0 1 2 3 ...
//
// If a thread has few vectors, the loop is unrolled in the scope of the row: an element that was read for a sum is
// still in a register when it is read again. The order in which a value of the row is combined follows from these
// numbers alone: each thread's lanes halves onto halves, then threads t and t ^ 16, 8, 4, 2, 1, then warps likewise,
// through one shared slot each; in this order all threads obtain the same bits. All vectors are full: either the width
// divides the size, or rows begin at addresses where vectors may begin, and the remaining elements are computed one by
// one. A thread without an element in the last iteration repeats the last existing element; that element is neither
// counted nor stored.
#ifndef XLC_LIB_LOWER_GPU_GPUMAPPING_H
#define XLC_LIB_LOWER_GPU_GPUMAPPING_H

#include "../Mapping.h"
#include "Intrinsics.h"
#include <map>

namespace xlc::lower {

class GpuFrame : public KernelFrame {
public:
  /// Parameters: a global address per operand (then that of the random bits), and, if a result may be added to, an i32
  /// with a bit per result. `exec.grid` and `exec.block` give the number of blocks and of threads per block.
  mlir::FailureOr<mlir::func::FuncOp> createFunction(mlir::OpBuilder &builder, llvm::StringRef name,
                                                     const KernelRequest &request) override;
  Memory bindOperand(KernelEmitter &e, size_t i) override;
  mlir::Value bindAdds(KernelEmitter &e, size_t i) override;
  mlir::Value loadWhere(KernelEmitter &e, mlir::Value condition, const Memory &memory, llvm::ArrayRef<Index> indices,
                        const Lanes &lanes) override;
  mlir::Value roundToBf16(KernelEmitter &e, mlir::Value value) override { return grid::roundToBf16(e, value); }
  unsigned constantSpace() const override;

  void setLaunch(int64_t blocks, int64_t threads);
  /// An array that the threads of a block share.
  mlir::Value sharedSlots(KernelEmitter &e, mlir::Type type, int64_t count);
  /// Elements at once: 16 bytes of the narrowest operand; fewer if that does not divide `size`, unless rows are
  /// aligned.
  int64_t chooseWidth(int64_t size) const;

private:
  /// Whether there are operands whose rows have `size` elements, and all of them have each row at a multiple of
  /// `width`.
  bool areRowsAligned(int64_t size, int64_t width) const;

  const KernelRequest *request = nullptr;
  mlir::func::FuncOp code;
  int64_t mostLanes = 1;
  bool movesLanes = false; ///< neighbours of a result need not be neighbours of an operand
  int slots = 0;           ///< shared arrays made so far
};

class GpuMapping : public Mapping {
public:
  KernelFrame &frame() override { return function; }

  bool sharesTotals() const override { return true; }
  void once(KernelEmitter &e, llvm::function_ref<void()> body) override;
  void forPositions(KernelEmitter &e, int64_t size, LaneBody body) override;
  void forColumns(KernelEmitter &e, llvm::ArrayRef<int64_t> sizes, int64_t rows, ColumnBody body) override;
  void forElements(KernelEmitter &e, int64_t rows, int64_t size, ElementBody body) override;
  void forRows(KernelEmitter &e, int64_t rows, int64_t size, RowBody body) override;
  bool keepsRow(int64_t size) const override;
  void withinRow(KernelEmitter &e, llvm::function_ref<void()> body) override;
  Values forLanes(KernelEmitter &e, int64_t size, int64_t width, mlir::ValueRange carried, LaneBody body) override;
  int64_t chooseWidth(int64_t size, int64_t registers) const override { return function.chooseWidth(size); }

  bool areShared(llvm::ArrayRef<Index> indices) const override;
  Values combine(KernelEmitter &e, Kinds kinds, Values values) override;
  bool shareColumn(llvm::ArrayRef<Index> indices) const override;
  Values forRowsOfColumn(KernelEmitter &e, int64_t rows, mlir::ValueRange carried, KernelEmitter::Body body) override;
  Values combineColumn(KernelEmitter &e, Kinds kinds, Values values) override;
  void separate(KernelEmitter &e) override;
  void storeRow(KernelEmitter &e, llvm::function_ref<void()> store) override;

private:
  /// forElements, for rows that consist of vectors and single elements.
  void forElementsOfRows(KernelEmitter &e, int64_t rows, int64_t size, int64_t width, ElementBody body);
  /// Columns of one extent, computed by `blocks` blocks, beginning at block `first`.
  void forColumnsOf(KernelEmitter &e, int64_t size, int64_t first, int64_t blocks, ColumnBody body);
  /// The number of this thread among `vectors` independent vectors; the body runs if that vector exists.
  void forVectors(KernelEmitter &e, int64_t vectors, llvm::function_ref<void(const Index &)> body);
  /// The position of this thread in the last iteration, in which only `rest` threads have an element.
  Index clampedThread(KernelEmitter &e, int depth, int64_t rest);
  /// forLanes, in a scope at `depth` for values that differ between threads.
  Values forLanesOf(KernelEmitter &e, int depth, int64_t size, int64_t width, mlir::ValueRange carried, LaneBody body);
  /// Combines over warps through shared memory.
  Values combineWarps(KernelEmitter &e, Kinds kinds, Values values);

  GpuFrame function;
  // Of the row that is being emitted.
  mlir::Value thread;  ///< of those who share the row: i64
  int64_t threads = 1; ///< that share a row
  int64_t shares = 1;  ///< of the rows of a column, which is a block's: the warps of the block have one each
  int rowDepth = 0;
  int threadDepth = 1;           ///< scope of what differs between them
  std::map<int64_t, Index> ends; ///< clamped threads by `rest`; looked up only
};

} // namespace xlc::lower

#endif
