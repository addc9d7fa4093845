// Kernels for a thread of a CPU: the rows [begin, end) that the caller passes, one after the other, in vectors of the
// registers' width. The elements after the last full vector use the same operations under a mask.
#ifndef XLC_LIB_LOWER_CPUMAPPING_H
#define XLC_LIB_LOWER_CPUMAPPING_H

#include "Mapping.h"

namespace xlc::lower {

class CpuFrame : public KernelFrame {
public:
  /// Has the signature of XlcKernel.
  mlir::FailureOr<mlir::func::FuncOp> createFunction(mlir::OpBuilder &builder, llvm::StringRef name,
                                                     const KernelRequest &request) override;
  Memory bindOperand(KernelEmitter &e, size_t i) override;
  mlir::Value bindAdds(KernelEmitter &e, size_t i) override;
  mlir::Value loadWhere(KernelEmitter &e, mlir::Value condition, const Memory &memory, llvm::ArrayRef<Index> indices,
                        const Lanes &lanes) override;
  mlir::Value roundToBf16(KernelEmitter &, mlir::Value) override { return {}; }
  unsigned constantSpace() const override { return 0; }

  /// Sets the number of rows; callers split them at multiples of `grain`.
  void setExtent(int64_t extent, int64_t grain);
  /// The first row of a call, and the end of its rows.
  Index begin(int64_t multiple) { return {.base = code.getArgument(1), .multiple = multiple}; }
  Index end() { return {.base = code.getArgument(2), .multiple = 1}; }
  /// Whether the kernel draws random bits.
  bool draws() const;

private:
  const KernelRequest *request = nullptr;
  mlir::func::FuncOp code;
};

class CpuMapping : public Mapping {
public:
  /// `vectorBytes` is the width of the target's registers.
  explicit CpuMapping(int64_t vectorBytes) : registerBytes(vectorBytes) {}

  KernelFrame &frame() override { return function; }

  bool sharesTotals() const override { return false; }
  void once(KernelEmitter &e, llvm::function_ref<void()> body) override;
  void forPositions(KernelEmitter &e, int64_t size, LaneBody body) override;
  /// The columns of one extent.
  void forColumns(KernelEmitter &e, llvm::ArrayRef<int64_t> sizes, int64_t rows, ColumnBody body) override;
  void forElements(KernelEmitter &e, int64_t rows, int64_t size, ElementBody body) override;
  void forRows(KernelEmitter &e, int64_t rows, int64_t size, RowBody body) override;
  bool keepsRow(int64_t) const override { return false; }
  void withinRow(KernelEmitter &, llvm::function_ref<void()> body) override { body(); }
  Values forLanes(KernelEmitter &e, int64_t size, int64_t width, mlir::ValueRange carried, LaneBody body) override;
  int64_t chooseWidth(int64_t size, int64_t registers) const override;

  bool areShared(llvm::ArrayRef<Index> indices) const override { return true; }
  Values combine(KernelEmitter &e, Kinds kinds, Values values) override { return values; }
  bool shareColumn(llvm::ArrayRef<Index>) const override { return false; }
  Values forRowsOfColumn(KernelEmitter &e, int64_t rows, mlir::ValueRange carried, KernelEmitter::Body body) override {
    return e.loop(e.constantIndex(0), e.constantIndex(rows), 1, carried, body);
  }
  Values combineColumn(KernelEmitter &, Kinds, Values values) override { return values; }
  void separate(KernelEmitter &e) override {}
  void storeRow(KernelEmitter &e, llvm::function_ref<void()> store) override { store(); }

private:
  /// Positions from `from` (a multiple of `width`) to `to`, both known at run time only.
  void forRange(KernelEmitter &e, const Index &from, const Index &to, int64_t width, LaneBody body);

  int64_t registerBytes;
  CpuFrame function;
};

} // namespace xlc::lower

#endif
