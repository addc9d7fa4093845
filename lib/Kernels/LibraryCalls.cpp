// Matching ops to library calls. An einsum letter stands in two or three of (a, b, y), which makes it
//
//     in a, b, y: batch      in a, y: m      in b, y: n      in a, b: k
//
// Each letter is a factor with a size and a stride in each operand (0 where absent). Two factors of a group are one
// longer factor if, in every operand, the outer one's stride is the inner one's extent. What remains of m or n beside
// one factor is moved to the batch, where the operand that lacks it has stride 0.
#include "xlc/Kernels/LibraryCalls.h"
#include "xlc/Dialect/Exec/Exec.h"
#include <numeric>

using namespace mlir;
using namespace xlc;

namespace {

struct Factor {
  int64_t size, a, b, y;
};
using Factors = SmallVector<Factor, 4>;

SmallVector<int64_t> stridesOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return {};
  return strides;
}

/// Joins neighbouring factors; outermost first, by the strides in y, then in a.
Factors mergeFactors(Factors factors) {
  llvm::sort(factors, [](const Factor &p, const Factor &q) {
    return std::tuple(std::abs(p.y), std::abs(p.a), p.size) > std::tuple(std::abs(q.y), std::abs(q.a), q.size);
  });
  Factors merged;
  for (const Factor &inner : factors) {
    Factor *outer = merged.empty() ? nullptr : &merged.back();
    if (outer && outer->a == inner.size * inner.a && outer->b == inner.size * inner.b &&
        outer->y == inner.size * inner.y)
      *outer = {outer->size * inner.size, inner.a, inner.b, inner.y};
    else
      merged.push_back(inner);
  }
  return merged;
}

/// The factor of a group along which y is contiguous, else the longest; the others go to the batch.
Factor takeFactor(Factors factors, Factors &batch) {
  if (factors.empty())
    return {1, 1, 1, 1};
  auto weight = [](const Factor &factor) { return std::pair(factor.y == 1, factor.size); };
  auto *taken = llvm::max_element(factors, [&](const Factor &p, const Factor &q) { return weight(p) < weight(q); });
  Factor result = *taken;
  factors.erase(taken);
  llvm::append_range(batch, factors);
  return result;
}

/// Letters and strides of one of (a, b, y).
struct Side {
  StringRef letters;
  SmallVector<int64_t> strides;

  bool has(char c) const { return letters.contains(c); }
  int64_t stride(char c) const { return has(c) ? strides[letters.find(c)] : 0; }
};

struct Groups {
  Factors batch, m, n, k;
};

/// With a bias, n is the letter of y's last dimension alone.
Groups groupLetters(const Side &a, const Side &b, const Side &y, const llvm::MapVector<char, int64_t> &sizes,
                    bool bias) {
  Groups groups;
  for (auto [c, size] : sizes) {
    if (size == 1)
      continue;
    bool biased = bias && c != y.letters.back();
    Factors &group = !y.has(c)              ? groups.k
                     : a.has(c) && b.has(c) ? groups.batch
                     : a.has(c)             ? groups.m
                     : biased               ? groups.batch
                                            : groups.n;
    group.push_back({size, a.stride(c), b.stride(c), y.stride(c)});
  }
  return groups;
}

/// None for types that no library call has.
std::optional<runtime::FloatType> floatOf(MemRefType type) {
  Type element = type.getElementType();
  if (element.isF32())
    return runtime::FloatType::F32;
  if (element.isBF16())
    return runtime::FloatType::BF16;
  return element.isF16() ? std::optional(runtime::FloatType::F16) : std::nullopt;
}

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

std::optional<LibraryContract> xlc::findContractShape(graph::ContractOp op, MemRefType memoryA, MemRefType memoryB,
                                                      MemRefType memoryY, runtime::Epilogue epilogue) {
  std::optional<runtime::FloatType> operands = floatOf(memoryA), made = floatOf(memoryY);
  constexpr auto f32 = runtime::FloatType::F32;
  bool bias = epilogue.bias, isWhole = !bias && !epilogue.hasBeside();
  if (!operands || floatOf(memoryB) != operands || (made != f32 && made != operands) || (!isWhole && made != operands))
    return std::nullopt;
  Side a{op.getLettersA(), stridesOf(memoryA)}, b{op.getLettersB(), stridesOf(memoryB)};
  Side y{op.getLettersY(), stridesOf(memoryY)};
  llvm::MapVector<char, int64_t> sizes;
  for (auto [side, value] : {std::pair(&y, op.getY()), std::pair(&a, op.getA())})
    for (auto [c, size] : llvm::zip_equal(side->letters, cast<ShapedType>(value.getType()).getShape()))
      sizes.insert({c, size});

  // The last letter of y belongs along n: a bias lies there, and so does y's contiguous dimension.
  LibraryContract result;
  result.swapped = !y.letters.empty() && !b.has(y.letters.back());
  if (result.swapped)
    std::swap(a, b);
  if (bias && (y.letters.empty() || a.has(y.letters.back())))
    return std::nullopt;
  Groups groups = groupLetters(a, b, y, sizes, bias);
  Factors k = mergeFactors(groups.k);
  if (k.size() > 1)
    return std::nullopt;
  Factors batch = groups.batch;
  Factor m = takeFactor(mergeFactors(groups.m), batch), n = takeFactor(mergeFactors(groups.n), batch);
  Factor depth = k.empty() ? Factor{1, 1, 1, 1} : k.front();
  auto &shape = result.shape;
  shape.m = m.size, shape.n = n.size, shape.k = depth.size;
  shape.aM = m.a, shape.aK = depth.a, shape.bK = depth.b, shape.bN = n.b, shape.yM = m.y, shape.yN = n.y;
  for (const Factor &factor : mergeFactors(batch))
    shape.batch.push_back({factor.size, factor.a, factor.b, factor.y});
  shape.epilogue = epilogue;
  shape.operands = *operands, shape.result = *made;
  return result;
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
  auto forward = dyn_cast<graph::AttentionOp>(op);
  auto backward = dyn_cast<graph::AttentionBackwardOp>(op);
  // Operands q, k, v [, out, lse, dout] [, bias], results [out, lse] or [dq, dk, dv].
  runtime::AttentionShape shape{};
  SmallVector<MemRefType> memory(operands);
  if (forward ? forward.getBias() : backward.getBias()) {
    unsigned bias = forward ? 3 : 6;
    if (failed(describeBias(memory[bias], shape)))
      return std::nullopt;
    memory.erase(memory.begin() + bias);
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
