// The cost of a kernel: floating-point operations and bytes of memory, from one table with a row per op.
//
// FLOPs are counted as the literature counts them, so that they can be compared with a device's peak: a
// multiply-add is two, causal attention is half of full attention, any function of an element is one.
#ifndef XLC_ESTIMATE_COST_H
#define XLC_ESTIMATE_COST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Cluster/Device.h"
#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Support/Quantity.h"

namespace xlc {

struct Cost {
  Quantity flops;
  std::array<Quantity, 3> products; ///< the part of `flops` in contractions and attention, by ProductType
  Quantity bytes;                   ///< read and written, each tensor once

  Quantity matrixFlops() const { return products[0] + products[1] + products[2]; }
  Cost &operator+=(const Cost &other) {
    flops += other.flops, bytes += other.bytes;
    for (size_t type = 0; type < products.size(); ++type)
      products[type] += other.products[type];
    return *this;
  }
};

/// Whether the cost table has a row for the op of this name.
bool hasCost(mlir::OperationName op);

/// FLOPs of one op of the graph dialect; 0 if the table has no row.
Quantity countFlops(mlir::Operation *op);

/// A kernel function of graph ops: FLOPs of its ops, bytes of its arguments and results.
Cost costOfKernel(mlir::func::FuncOp kernel);

/// The kind of work that takes most of a kernel's time.
enum class KernelWork {
  Products,    ///< contractions and convolutions
  Attention,   ///< attention as a single kernel
  Rows,        ///< norms, softmax, the loss: along the last dimension
  ElementWise, ///< elements of the results computed independently, or only moved
  Sums,        ///< along other dimensions, or of all elements
  Optimizer,
};
constexpr size_t kKernelWorks = size_t(KernelWork::Optimizer) + 1;

/// The name used in plans: "element_wise".
llvm::StringRef getName(KernelWork work);

KernelWork workOfKernel(mlir::func::FuncOp kernel);

/// The costs of the functions of a module, each counted once regardless of the number of its runs.
class FunctionCosts {
public:
  explicit FunctionCosts(mlir::ModuleOp module) : symbols(module) {}
  /// The sum over a function's kernels. The function and its kernels must exist.
  const Cost &of(llvm::StringRef function);

private:
  mlir::SymbolTable symbols;
  llvm::StringMap<Cost> kernels, functions;
};

/// The computations of one rank in a step, by pass.
struct StepCost {
  Cost forward, backward;
  Cost update; ///< norm, scalars and optimizer
  Cost total() const {
    Cost sum = forward;
    sum += backward;
    return sum += update;
  }
};

/// Sums over all runs of a program. The functions that it runs and their kernels must be in its module.
StepCost costOfStep(exec::ProgramOp program);

} // namespace xlc

#endif
