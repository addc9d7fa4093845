// Matches ops to library calls, except contractions (ContractCalls.cpp).
#include "xlc/Kernels/LibraryCalls.h"
#include "CallMemory.h"
#include "xlc/Dialect/Exec/Exec.h"

using namespace mlir;
using namespace xlc;

namespace {

bool areFloats(ArrayRef<MemRefType> memory) {
  return llvm::all_of(memory, [](MemRefType type) { return type.getElementType().isF32(); });
}

runtime::HeadStrides headStrides(MemRefType type) {
  SmallVector<int64_t> strides = stridesOf(type);
  return {strides[0], strides[1], strides[2]};
}

} // namespace

bool xlc::isContiguous(MemRefType type) {
  SmallVector<int64_t> strides = stridesOf(type);
  int64_t expected = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (type.getDimSize(i) != 1 && strides[i] != expected)
      return false;
    expected *= type.getDimSize(i);
  }
  return true;
}

Operation *xlc::findLibraryOp(func::FuncOp kernel) {
  if (exec::findKernelKind(kernel) != exec::KernelKind::library)
    return nullptr;
  for (Operation &op : kernel.front())
    if (op.hasTrait<graph::LibraryKernel>())
      return &op;
  return nullptr;
}

SmallVector<MemRefType> xlc::memoryOfLibraryOp(Operation *op, ArrayRef<MemRefType> ins, ArrayRef<MemRefType> outs) {
  SmallVector<MemRefType> memory;
  for (Value operand : op->getOperands())
    memory.push_back(ins[cast<BlockArgument>(operand).getArgNumber()]);
  runtime::Epilogue epilogue = findEpilogue(op);
  if (!epilogue.hasBeside()) {
    llvm::append_range(memory, outs);
    return memory;
  }
  memory.push_back(outs.back());
  memory.push_back(epilogue.readsBeside() ? ins.back() : outs.front());
  return memory;
}

/// Its sums are f32 up to the end, and all other ops of its kernel.
runtime::Epilogue xlc::findEpilogue(Operation *op) {
  runtime::Epilogue epilogue;
  if (!isa<graph::ContractOp>(op))
    return epilogue;
  auto kernel = op->getParentOfType<func::FuncOp>();
  for (auto add : kernel.getOps<graph::AddOp>()) {
    bool hasBias =
        llvm::any_of(add->getOperands(), [](Value operand) { return bool(graph::findRepeatedVector(operand)); });
    (hasBias ? epilogue.bias : epilogue.residual) = true;
  }
  if (!kernel.getOps<graph::GeluOp>().empty())
    epilogue.activation = runtime::Activation::Gelu;
  if (!kernel.getOps<graph::GeluBackwardOp>().empty())
    epilogue.activation = runtime::Activation::GeluBackward;
  return epilogue;
}

/// How the bias lies: 0 along what it is repeated over. Fails where its keys are not one after the other.
static LogicalResult describeBias(MemRefType type, runtime::AttentionShape &shape) {
  SmallVector<int64_t> strides = stridesOf(type);
  bool isAllow = type.getElementType().isInteger(1);
  if ((type.getDimSize(3) != 1 && strides[3] != 1) || (!isAllow && !type.getElementType().isF32()))
    return failure();
  for (int i = 0; i < 3; ++i)
    if (type.getDimSize(i) == 1)
      strides[i] = 0;
  shape.biasKind = isAllow ? runtime::AttentionBias::Allow : runtime::AttentionBias::Add;
  shape.bias = {strides[0], strides[1], strides[2]};
  return success();
}

std::optional<runtime::AttentionShape> xlc::findAttentionShape(Operation *op, ArrayRef<MemRefType> operands) {
  assert(op->hasTrait<graph::Attention>() && "operands are read by their numbers");
  auto forward = dyn_cast<graph::AttentionOp>(op);
  auto backward = dyn_cast<graph::AttentionBackwardOp>(op);
  // Operands q, k, v [, out, lse, dout] [, bias] [, draws], results [out, lse] or [dq, dk, dv].
  runtime::AttentionShape shape{};
  SmallVector<MemRefType> memory(operands);
  unsigned beside = forward ? 3 : 6;
  if (forward ? forward.getBias() : backward.getBias()) {
    if (failed(describeBias(memory[beside], shape)))
      return std::nullopt;
    memory.erase(memory.begin() + beside);
  }
  if (std::optional<APFloat> ratio = forward ? forward.getRatio() : backward.getRatio()) {
    if (!isContiguous(memory[beside]))
      return std::nullopt;
    shape.ratio = ratio->convertToDouble();
    memory.erase(memory.begin() + beside);
  }
  unsigned lse = 4;
  std::optional<runtime::FloatType> type = floatOf(memory[0]);
  if (!type)
    return std::nullopt;
  shape.type = *type;
  for (auto [i, each] : llvm::enumerate(memory))
    if (i == lse ? !isContiguous(each) || !each.getElementType().isF64()
                 : floatOf(each) != type || (each.getDimSize(3) != 1 && stridesOf(each)[3] != 1))
      return std::nullopt;
  ArrayRef<int64_t> q = memory[0].getShape(), k = memory[1].getShape(), v = memory[2].getShape();
  shape.backward = backward != nullptr;
  shape.causal = (forward ? forward.getMask() : backward.getMask()) == graph::Mask::causal;
  shape.scale = (forward ? forward.getScale() : backward.getScale()).convertToDouble();
  shape.batch = q[0], shape.queries = q[1], shape.keys = k[1], shape.heads = q[2], shape.groups = k[2];
  shape.d = q[3], shape.e = v[3];
  shape.window = (int64_t)(forward ? forward.getWindow() : backward.getWindow()).value_or(0);
  shape.uniform = forward ? forward.getUniform() : backward.getUniform();
  shape.added = forward ? forward.getAdded() : backward.getAdded();
  shape.q = headStrides(memory[0]), shape.k = headStrides(memory[1]), shape.v = headStrides(memory[2]);
  shape.out = headStrides(memory[3]);
  if (backward) {
    shape.dout = headStrides(memory[5]);
    shape.dq = headStrides(memory[6]), shape.dk = headStrides(memory[7]), shape.dv = headStrides(memory[8]);
  }
  return shape;
}

static int64_t countOf(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

std::optional<ScatterShape> xlc::findScatterShape(Operation *op, ArrayRef<MemRefType> memory) {
  assert(op->hasTrait<graph::ScatterAdd>() && "memory is that of indices, updates and result");
  auto whole = dyn_cast<graph::ScatterAddOp>(op);
  bool isRounded = whole && graph::isNarrow(memory.back().getElementType());
  if (!llvm::all_of(memory, isContiguous) || !areFloats(memory.drop_front().drop_back(isRounded)))
    return std::nullopt;
  ArrayRef<int64_t> indices = memory[0].getShape(), y = memory.back().getShape();
  int64_t d = whole ? whole.getDimension() : cast<graph::ScatterElementsAddOp>(op).getDimension();
  ScatterShape shape{countOf(y.take_front(d)), 1, countOf(indices), y[d], countOf(y.drop_front(d + 1)), false};
  if (whole)
    return d == 0 ? std::optional(shape) : std::nullopt;
  int64_t place = d - ((int64_t)y.size() - (int64_t)indices.size());
  shape.distinct = countOf(indices.take_front(place));
  shape.indices = indices[place];
  shape.perElement = true;
  return shape;
}

std::optional<ScatterIntoShape> xlc::findScatterIntoShape(Operation *op, ArrayRef<MemRefType> memory) {
  auto scatter = cast<graph::ScatterElementsOp>(op);
  Type element = memory.back().getElementType();
  if (!llvm::all_of(memory, isContiguous) || !(element.isF32() || element.isInteger(32) || element.isInteger(64)))
    return std::nullopt;
  ArrayRef<int64_t> indices = memory[1].getShape(), y = memory.back().getShape();
  int64_t d = scatter.getDimension(), place = d - ((int64_t)y.size() - (int64_t)indices.size());
  ScatterShape shape{
      countOf(y.take_front(d)), countOf(indices.take_front(place)), indices[place], y[d], countOf(y.drop_front(d + 1)),
      !scatter.isByRow()};
  return ScatterIntoShape{scatter.getKind(), shape};
}

/// x and y have their spatial sizes from dimension 2 on.
static std::vector<runtime::WindowDim> windowDims(Value x, Value y, ArrayRef<int64_t> window, ArrayRef<int64_t> strides,
                                                  ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  ArrayRef<int64_t> in = cast<ShapedType>(x.getType()).getShape(), out = cast<ShapedType>(y.getType()).getShape();
  std::vector<runtime::WindowDim> dims;
  dims.reserve(window.size());
  for (size_t i = 0; i < window.size(); ++i)
    dims.push_back({in[i + 2], out[i + 2], window[i], strides[i], dilations[i], pads[i]});
  return dims;
}

std::optional<runtime::ConvolutionShape> xlc::findConvolutionShape(Operation *op, ArrayRef<MemRefType> memory) {
  assert(op->hasTrait<graph::Convolution>() && "which operand is a window's follows from the op");
  std::optional<runtime::FloatType> type = floatOf(memory.front());
  if (!type || !llvm::all_of(memory, [&](MemRefType each) { return isContiguous(each) && floatOf(each) == type; }))
    return std::nullopt;
  using Kind = runtime::ConvolutionShape::Kind;
  auto describe = [&](auto op, Kind kind, Value x, Value w, Value y) {
    ArrayRef<int64_t> in = cast<ShapedType>(x.getType()).getShape(), weight = cast<ShapedType>(w.getType()).getShape();
    int64_t groups = op.getGroups();
    return runtime::ConvolutionShape{
        kind,
        in[0],
        groups,
        weight[1],
        weight[0] / groups,
        windowDims(x, y, weight.drop_front(2), op.getStrides(), op.getDilations(), op.getPads()),
        *type};
  };
  if (auto forward = dyn_cast<graph::ConvolutionOp>(op))
    return describe(forward, Kind::Forward, forward.getX(), forward.getW(), forward.getY());
  if (auto transpose = dyn_cast<graph::ConvolutionTransposeOp>(op))
    return describe(transpose, Kind::Transpose, transpose.getX(), transpose.getW(), transpose.getY());
  auto backward = cast<graph::ConvolutionWeightBackwardOp>(op);
  return describe(backward, Kind::WeightBackward, backward.getX(), backward.getDw(), backward.getDy());
}

std::optional<PoolShape> xlc::findPoolShape(Operation *op, ArrayRef<MemRefType> memory) {
  assert(op->hasTrait<graph::MaxPool>() && "memory is that of x first");
  if (!llvm::all_of(memory, isContiguous) || !areFloats(memory))
    return std::nullopt;
  auto describe = [](auto op, bool backward, Value x, Value y) {
    ArrayRef<int64_t> in = cast<ShapedType>(x.getType()).getShape();
    return PoolShape{backward, in[0] * in[1],
                     windowDims(x, y, op.getWindow(), op.getStrides(), op.getDilations(), op.getPads())};
  };
  if (auto forward = dyn_cast<graph::MaxPoolOp>(op))
    return describe(forward, false, forward.getX(), forward.getY());
  auto backward = cast<graph::MaxPoolBackwardOp>(op);
  return describe(backward, true, backward.getX(), backward.getDy());
}
