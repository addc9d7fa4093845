// See Expected.h.
#include "Expected.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Interpret.h"
#include <atomic>
#include <thread>

using namespace mlir;
using namespace xlc;
using namespace xlc::verify;
using interpret::countOf;

namespace {

constexpr int64_t manyElements = 1 << 22, pieceElements = 1 << 18;

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// The elements of a kernel that does the same to each of very many, on its own; 0 where it does anything else.
int64_t findPointwise(func::FuncOp kernel) {
  int64_t most = 0;
  for (Value argument : kernel.getArguments())
    most = std::max(most, elementsOf(argument));
  if (most < manyElements)
    return 0;
  for (Operation &op : kernel.front().without_terminator()) {
    auto isLong = [&](Value operand) { return elementsOf(operand) == most; };
    bool isPointwise = isa<graph::OptimizerStepOp>(op) ||
                       (op.hasTrait<graph::ReadsOwnElement>() && llvm::all_of(op.getOperands(), isLong));
    for (Value result : op.getResults())
      if (!isPointwise || elementsOf(result) != most)
        return 0;
  }
  return most;
}

LogicalResult evaluateOn(func::FuncOp kernel, ArrayRef<Operand> operands, Expected &expected) {
  SmallVector<Datum<Bounded>> arguments;
  for (auto [operand, type] : llvm::zip(operands, kernel.getArgumentTypes())) {
    Shape shape(cast<RankedTensorType>(type).getShape());
    arguments.push_back(read(operand, &shape));
  }
  int64_t before = Bounded::openDecisions();
  LogicalResult outcome =
      interpret::evaluate<Bounded>(kernel, std::move(arguments), interpret::Options{}, expected.results);
  expected.openDecisions += Bounded::openDecisions() - before;
  return outcome;
}

} // namespace

LogicalResult Kernels::evaluate(func::FuncOp kernel, ArrayRef<Operand> operands,
                                llvm::function_ref<void(const Expected &)> take) {
  int64_t elements = findPointwise(kernel);
  for (const Operand &operand : operands)
    if (operand.count() == elements && !operand.isContiguous())
      elements = 0;
  if (elements > 0)
    return evaluateInPieces(kernel, operands, elements, take);
  Expected expected;
  if (failed(evaluateOn(kernel, operands, expected)))
    return failure();
  take(expected);
  return success();
}

/// The kernel with `piece` in the place of its many elements.
func::FuncOp Kernels::findCut(func::FuncOp kernel, int64_t elements, int64_t piece) {
  OwningOpRef<func::FuncOp> &cut = cuts[{kernel, piece}];
  if (cut)
    return *cut;
  cut = kernel.clone();
  auto shorten = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getNumElements() == elements)
      value.setType(RankedTensorType::get({piece}, type.getElementType()));
  };
  llvm::for_each(cut->getArguments(), shorten);
  cut->walk([&](Operation *op) { llvm::for_each(op->getResults(), shorten); });
  Block &body = cut->front();
  cut->setType(
      FunctionType::get(kernel.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  cut->front().recomputeOpOrder(); // threads only read
  return *cut;
}

LogicalResult Kernels::evaluateInPieces(func::FuncOp kernel, ArrayRef<Operand> operands, int64_t elements,
                                        llvm::function_ref<void(const Expected &)> take) {
  int64_t pieces = (elements + pieceElements - 1) / pieceElements;
  func::FuncOp most = findCut(kernel, elements, pieceElements);
  func::FuncOp last = findCut(kernel, elements, elements - (pieces - 1) * pieceElements);
  std::atomic<int64_t> next{0};
  std::atomic<bool> isFailed{false};
  auto serve = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < pieces && !isFailed;) {
      int64_t first = i * pieceElements, count = std::min(pieceElements, elements - first);
      SmallVector<Operand> own;
      for (const Operand &operand : operands)
        own.push_back(operand.count() == elements ? operand.piece(first, count) : operand);
      Expected piece;
      piece.first = first;
      if (failed(evaluateOn(i + 1 < pieces ? most : last, own, piece))) {
        isFailed = true;
        return;
      }
      take(piece);
    }
  };
  std::vector<std::thread> others(std::max(1u, std::thread::hardware_concurrency()) - 1);
  for (std::thread &other : others)
    other = std::thread(serve);
  serve();
  for (std::thread &other : others)
    other.join();
  return failure(isFailed);
}
