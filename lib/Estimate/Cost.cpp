// From ops to kernels, from kernels to runs, from runs to a step. A function is counted once and multiplied by the
// number of its runs, so a model of many layers takes no longer than one of two.
#include "xlc/Estimate/Cost.h"
#include "CostTable.h"

using namespace mlir;
using namespace xlc;

bool xlc::hasCost(OperationName op) { return findCostRow(op) != nullptr; }

Quantity xlc::countFlops(Operation *op) {
  const CostRow *row = findCostRow(op->getName());
  return row ? row->flops(op) : 0;
}

/// By the elements of its first operand.
static ProductType productTypeOf(Operation *op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  return element.isBF16() ? ProductType::BF16 : element.isF16() ? ProductType::F16 : ProductType::F32;
}

Cost xlc::costOfKernel(func::FuncOp kernel) {
  Cost cost;
  for (Operation &op : kernel.getOps())
    if (const CostRow *row = findCostRow(op.getName())) {
      Quantity flops = row->flops(&op);
      cost.flops += flops;
      if (row->isMatrix)
        cost.products[size_t(productTypeOf(&op))] += flops;
    }
  for (ArrayRef<Type> types : {kernel.getArgumentTypes(), kernel.getResultTypes()})
    for (Type type : types)
      cost.bytes += graph::getByteSize(cast<RankedTensorType>(type));
  return cost;
}

StringRef xlc::getName(KernelWork work) {
  constexpr StringLiteral names[kKernelWorks] = {"products", "attention", "rows", "element_wise", "sums", "optimizer"};
  return names[size_t(work)];
}

KernelWork xlc::workOfKernel(func::FuncOp kernel) {
  for (Operation &op : kernel.getOps()) {
    if (op.hasTrait<graph::Attention>())
      return KernelWork::Attention;
    if (isa<graph::OptimizerStepOp>(op))
      return KernelWork::Optimizer;
    if (const CostRow *row = findCostRow(op.getName()); row && row->isMatrix)
      return KernelWork::Products;
  }
  switch (exec::findKernelKind(kernel).value_or(exec::KernelKind::loop)) {
  case exec::KernelKind::rows:
    return KernelWork::Rows;
  case exec::KernelKind::columns:
  case exec::KernelKind::all:
    return KernelWork::Sums;
  case exec::KernelKind::loop:
  case exec::KernelKind::library:
    return KernelWork::ElementWise;
  }
  llvm_unreachable("all kinds are named");
}

const Cost &FunctionCosts::of(StringRef name) {
  auto [known, isNew] = functions.try_emplace(name);
  if (!isNew)
    return known->second;
  Cost sum;
  for (auto call : symbols.lookup<func::FuncOp>(name).getOps<exec::CallOp>()) {
    auto [kernel, isNewKernel] = kernels.try_emplace(call.getKernel());
    if (isNewKernel)
      kernel->second = costOfKernel(symbols.lookup<func::FuncOp>(call.getKernel()));
    sum += kernel->second;
  }
  return known->second = sum;
}

StepCost xlc::costOfStep(exec::ProgramOp program) {
  FunctionCosts costs(program->getParentOfType<ModuleOp>());
  StepCost cost;
  for (auto run : program.getBody().front().getOps<exec::RunOp>()) {
    graph::Role role = run.getRole();
    Cost &side = role == graph::Role::F ? cost.forward : role == graph::Role::U ? cost.update : cost.backward;
    side += costs.of(run.getFunction());
  }
  return cost;
}
