// An element-wise kernel on contiguous memory does not depend on its shape: gelu of [4, 256, 3072] is a loop over
// 3145728 elements, which can be split among threads at any position and has one remainder instead of 1024.
#include "EmitKernel.h"
#include "xlc/Kernels/LibraryCalls.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

static ShapedType typeOf(Value value) { return cast<ShapedType>(value.getType()); }

/// Values with one element per element of the results, or none where an op on the way looks at indices.
static std::optional<llvm::SetVector<Value>> findFlatValues(func::FuncOp kernel, int64_t count) {
  auto results = kernel.front().getTerminator()->getOperands();
  llvm::SetVector<Value> flat(results.begin(), results.end());
  for (size_t i = 0; i < flat.size(); ++i) {
    Operation *op = flat[i].getDefiningOp();
    if (typeOf(flat[i]).getNumElements() != count)
      return std::nullopt;
    if (!op)
      continue;
    if (isa<graph::BroadcastOp>(op) && typeOf(op->getOperand(0)).getNumElements() == 1)
      continue;
    if (auto constant = dyn_cast<graph::ConstantOp>(op); constant && constant.getValue().isSplat())
      continue;
    if (!op->hasTrait<graph::ReadsOwnElement>() && !isa<graph::ReshapeOp>(op))
      return std::nullopt;
    flat.insert(op->operand_begin(), op->operand_end());
  }
  for (Value value : flat)
    for (Operation *user : value.getUsers())
      if (!user->hasTrait<OpTrait::IsTerminator>() && !flat.contains(user->getResult(0)))
        return std::nullopt;
  return flat;
}

void lower::flattenKernel(KernelRequest &request) {
  func::FuncOp kernel = request.kernel;
  Operation *end = kernel.front().getTerminator();
  ShapedType first = typeOf(end->getOperand(0));
  int64_t count = first.getNumElements();
  if (exec::findKernelKind(kernel) != exec::KernelKind::loop || first.getRank() < 2)
    return;
  auto flat = findFlatValues(kernel, count);
  if (!flat)
    return;
  SmallVector<Value> operands(kernel.getArguments());
  llvm::append_range(operands, end->getOperands());
  for (auto [value, memory] : llvm::zip_equal(operands, request.memory))
    if (flat->contains(value) && !isContiguous(memory))
      return;
  for (auto [value, memory] : llvm::zip_equal(operands, request.memory))
    if (flat->contains(value))
      memory = MemRefType::get({count}, memory.getElementType());
  for (Value value : *flat) {
    auto type = RankedTensorType::get({count}, typeOf(value).getElementType());
    value.setType(type);
    if (auto constant = value.getDefiningOp<graph::ConstantOp>())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
  }
  kernel.setType(FunctionType::get(kernel.getContext(), kernel.front().getArgumentTypes(), end->getOperandTypes()));
}
