// Kernels for the threads of an NVIDIA GPU. Elements that are each by themselves: a vector of neighbours per thread.
// A row: a group of threads, 32 (a warp) or a block of 2^k warps, which depends on the row's size alone. Of a row,
// thread t of n does the vectors t, t + n, t + 2n ... Their width depends on the size, and on whether rows begin
// where vectors may.
//
//     row of 24 vectors, n = 8 (in truth 32 or more)      t   0 1 2 3 4 5 6 7 | 0 1 2 3 ...
//
// Where a thread has few of them the loop is written out in the scope of the row: an element that was read for a sum
// is still known, in a register, where it is read again. A value of the row is combined in an order that follows from
// these alone: each thread's lanes halves onto halves, then threads t and t ^ 16, 8, 4, 2, 1, then warps likewise,
// through one shared slot each; in this order all threads come to the same bits. There is no vector that is not full:
// the width divides the size, or rows begin where vectors may, and what is left of them is done element by element. A
// thread without an element in the last turn repeats the last element that exists; it counts for nothing and is not
// stored.
#ifndef XLC_LIB_LOWER_GPU_GPUMAPPING_H
#define XLC_LIB_LOWER_GPU_GPUMAPPING_H

#include "../Mapping.h"
#include "Intrinsics.h"
#include <map>

namespace xlc::lower {

class GpuFrame : public KernelFrame {
public:
  /// Parameters: a global address per operand (then that of the random bits), and, where a result may be added to, an
  /// i32 with a bit per result. `exec.grid` and `exec.block` say how many blocks of how many threads.
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
  /// Elements at once: 16 bytes of the narrowest operand; fewer where that does not divide `size`, unless rows are
  /// aligned.
  int64_t chooseWidth(int64_t size) const;

private:
  /// Whether all operands whose rows have so many elements have each row at a multiple of `width`, and there are some.
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
  /// forElements, where a row is vectors and single elements.
  void forElementsOfRows(KernelEmitter &e, int64_t rows, int64_t size, int64_t width, ElementBody body);
  /// Columns of one extent, by the blocks from `first` on, of `blocks`.
  void forColumnsOf(KernelEmitter &e, int64_t size, int64_t first, int64_t blocks, ColumnBody body);
  /// The number of this thread, of `vectors` that are each by themselves; the body runs where it exists.
  void forVectors(KernelEmitter &e, int64_t vectors, llvm::function_ref<void(const Index &)> body);
  /// Where this thread stands in the last turn, of which only `rest` threads have an element.
  Index clampedThread(KernelEmitter &e, int depth, int64_t rest);
  /// forLanes, in a scope at `depth` for what differs between threads.
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
