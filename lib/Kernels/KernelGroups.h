// Decides which ops of a unit function form one kernel; FormKernels.cpp acts on the decision.
#ifndef XLC_LIB_KERNELS_KERNELGROUPS_H
#define XLC_LIB_KERNELS_KERNELGROUPS_H

#include "Epilogues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Kernels/Views.h"
#include "xlc/Target/Target.h"
#include "llvm/ADT/SetVector.h"

namespace xlc {

/// The ops of one kernel, or a single op that is not a kernel.
struct KernelGroup {
  enum class Form { Kernel, Concat, Exchange } form = Form::Kernel;
  exec::KernelKind kind = exec::KernelKind::library;
  llvm::SmallVector<int64_t>
      domain; ///< of the iteration: of the results (loop), of what is reduced (rows, columns, all)
  llvm::SetVector<mlir::Operation *> ops;
  runtime::Epilogue epilogue = {}; ///< of a product
};

/// The kernels of a function, in an order in which they can run.
class KernelGroups {
public:
  /// Groups all ops of `function`; inserts copies where no library of the target accepts a view. The last results are
  /// written to gradients and other stores; where `accumulates` is set, runs may add to the stored value.
  KernelGroups(mlir::func::FuncOp function, llvm::ArrayRef<bool> accumulates, const Target &target);

  llvm::ArrayRef<KernelGroup> get() const { return groups; }
  /// Cheap ops that are recomputed in every kernel that needs them: constants, broadcasts, widening casts.
  static bool isInline(mlir::Value value);

private:
  void add(mlir::Operation *op);
  void addLibrary(mlir::Operation *op);
  void addFused(mlir::Operation *op);
  bool addEpilogue(mlir::Operation *op);
  bool fitsEpilogue(graph::ContractOp contract, const EpilogueOps &epilogue);
  bool addConcat(mlir::Operation *op);
  bool addExchange(mlir::Operation *op);
  bool canBePieces(graph::ConcatOp concat);
  bool fitsAsPiece(mlir::Value operand, mlir::Value value, const MemoryLayout &whole);
  void copyOperands(mlir::Operation *op);
  void replaceByCopy(mlir::OpOperand &operand);
  void returnResultsOnly(llvm::ArrayRef<bool> accumulates);
  mlir::Value copy(mlir::Value value, mlir::Operation *before);
  void materialize(mlir::Value value);
  /// The last kernel that `value` depends on, or -1.
  int64_t readiness(mlir::Value value);
  bool isMadeIn(mlir::Value value, int64_t group);
  bool isReadableInside(mlir::Value value, int64_t group);
  bool canJoin(mlir::Operation *op, const KernelGroup &fresh, int64_t group);
  /// The kernel over rows that can also sum the columns, or -1.
  int64_t findCarrier(mlir::Operation *op, const KernelGroup &fresh, int64_t latest);
  bool isAtHand(mlir::Value value, int64_t group);
  int64_t create(KernelGroup group, mlir::Operation *op);

  mlir::func::FuncOp function;
  const Target &target;
  llvm::SmallVector<KernelGroup> groups;
  llvm::DenseMap<mlir::Operation *, int64_t> groupOf;
  llvm::DenseSet<mlir::Value> sums;          ///< results to which runs may add
  llvm::DenseSet<mlir::Operation *> carried; ///< sums over columns in kernels over rows, which have only parts of them
};

} // namespace xlc

#endif
