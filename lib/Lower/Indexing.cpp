// Arithmetic of indices, and elements in memory. Index arithmetic is emitted in the scope that defines its operands and
// cached there, so that equal indices are the same SSA value (which is what evaluate() compares).
#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {
enum Operation : int64_t { Add = 1, Shift, Multiply, Divide, Remainder };
} // namespace

Value KernelEmitter::combine(int64_t operation, Value a, int64_t b, int at, Value other) {
  Key key{operation, (int64_t)a.getAsOpaquePointer(), b};
  auto &known = scopes[at].known;
  if (auto found = known.find(key); found != known.end())
    return found->second;
  InScope scope(*this, at);
  auto vector = dyn_cast<VectorType>(a.getType());
  if (!other)
    other = splat(integer(b), vector ? vector.getNumElements() : 1);
  Value result;
  if (operation == Add || operation == Shift)
    result = arith::AddIOp::create(nested, location, a, other);
  else if (operation == Multiply)
    result = arith::MulIOp::create(nested, location, a, other);
  else if (operation == Divide)
    result = arith::DivUIOp::create(nested, location, a, other);
  else
    result = arith::RemUIOp::create(nested, location, a, other);
  return known[key] = result;
}

Value KernelEmitter::sum(Value a, Value b, int at) { return combine(Add, a, (int64_t)b.getAsOpaquePointer(), at, b); }

Index KernelEmitter::add(const Index &a, const Index &b, int64_t width) {
  int at = std::max(a.depth, b.depth);
  if (a.lanes || b.lanes)
    return {.lanes = sum(vectorOf(a, width), vectorOf(b, width), depth), .depth = depth};
  Value base = a.base ? a.base : b.base;
  if (a.base && b.base)
    base = sum(a.base, b.base, at);
  return {base, a.offset + b.offset, a.stride + b.stride, std::gcd(a.multiple, b.multiple), {}, at};
}

Index KernelEmitter::multiply(const Index &a, int64_t factor, int64_t width) {
  if (factor == 0)
    return {};
  if (factor == 1)
    return a;
  if (a.lanes)
    return {.lanes = combine(Multiply, a.lanes, factor, a.depth), .depth = a.depth};
  Value base = a.base ? combine(Multiply, a.base, factor, a.depth) : a.base;
  return {base, a.offset * factor, a.stride * factor, a.multiple * std::abs(factor), {}, a.depth};
}

/// Positions that stay inside one block of `divisor` neighbours: lane 0 begins at a multiple of something that
/// holds all lanes.
static bool staysInBlock(const Index &a, int64_t divisor, int64_t width) {
  if (a.lanes || a.stride != 1 || divisor % width != 0)
    return false;
  return std::gcd(a.multiple, a.offset) % width == 0;
}

Index KernelEmitter::divide(const Index &a, int64_t divisor, int64_t width) {
  if (divisor == 1)
    return a;
  if (!a.base && a.isUniform())
    return constantIndex(a.offset / divisor);
  if (a.isUniform() || staysInBlock(a, divisor, width)) {
    Index start = a;
    start.stride = 0;
    InScope scope(*this, a.depth);
    return {.base = combine(Divide, scalarOf(start), divisor, a.depth), .multiple = 1, .depth = a.depth};
  }
  return {.lanes = combine(Divide, vectorOf(a, width), divisor, depth), .depth = depth};
}

Index KernelEmitter::remainder(const Index &a, int64_t divisor, int64_t width) {
  if (divisor == 1)
    return {};
  if (!a.base && a.isUniform())
    return constantIndex(a.offset % divisor);
  if (a.isUniform() || staysInBlock(a, divisor, width)) {
    Index start = a;
    start.stride = 0;
    InScope scope(*this, a.depth);
    int64_t multiple = std::gcd(std::gcd(a.multiple, a.offset), divisor);
    return {combine(Remainder, scalarOf(start), divisor, a.depth), 0, a.stride, multiple, {}, a.depth};
  }
  return {.lanes = combine(Remainder, vectorOf(a, width), divisor, depth), .depth = depth};
}

Index KernelEmitter::linearize(ArrayRef<Index> indices, ArrayRef<int64_t> strides, int64_t width) {
  Index sum;
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    sum = add(sum, multiply(index, stride, width), width);
  return sum;
}

Indices KernelEmitter::delinearize(const Index &linear, ArrayRef<int64_t> shape, int64_t width) {
  Indices indices(shape.size());
  Index rest = linear;
  int64_t outer = -1; // the outermost dimension that is longer than 1 takes what remains
  for (int64_t i = shape.size() - 1; i >= 0; --i)
    outer = shape[i] != 1 ? i : outer;
  for (int64_t i = shape.size() - 1; i > outer && outer >= 0; --i) {
    indices[i] = remainder(rest, shape[i], width);
    rest = divide(rest, shape[i], width);
  }
  if (outer >= 0)
    indices[outer] = rest;
  return indices;
}

Index KernelEmitter::indexOf(Value element) {
  auto vector = dyn_cast<VectorType>(element.getType());
  Type type = vector ? Type(VectorType::get(vector.getShape(), nested.getI64Type())) : Type(nested.getI64Type());
  if (element.getType() != type)
    element = arith::ExtSIOp::create(nested, location, type, element);
  if (vector)
    return {.lanes = element, .depth = depth};
  return {.base = element, .multiple = 1, .depth = depth};
}

Value KernelEmitter::scalarOf(const Index &index) {
  if (!index.base)
    return integer(index.offset);
  if (index.offset == 0)
    return index.base;
  return combine(Shift, index.base, index.offset, index.depth);
}

Value KernelEmitter::vectorOf(const Index &index, int64_t width) {
  if (index.lanes)
    return index.lanes;
  Value start = splat(scalarOf(index), width);
  if (index.stride == 0)
    return start;
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < width; ++lane)
    steps.push_back(lane * index.stride);
  auto type = VectorType::get({width}, nested.getI64Type());
  Value iota = arith::ConstantOp::create(nested, location, DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
  return index.base || index.offset ? arith::AddIOp::create(nested, location, start, iota).getResult() : iota;
}

Value KernelEmitter::positionOf(const Index &index, int64_t width) {
  return index.isUniform() ? scalarOf(index) : vectorOf(index, width);
}

/// The type in memory: an i1 takes a byte; the bits of a bf16, of which LLVM would make calls, are an integer, in registers
/// too.
static Type storedType(Type element) {
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

/// What is known of an access at `at`, up to what it takes.
static unsigned alignmentOf(const Memory &memory, Type stored, const Index &at, int64_t width) {
  int64_t bytes = graph::getByteSize(stored, 1);
  if (memory.alignment == 0 || at.stride != 1)
    return bytes;
  int64_t known = std::gcd(memory.alignment, bytes * std::gcd(at.multiple, at.offset));
  return std::max(bytes, std::min<int64_t>(known, llvm::PowerOf2Ceil(bytes * width)));
}

Value KernelEmitter::fullMask(const Lanes &lanes) {
  if (lanes.mask)
    return lanes.mask;
  auto type = VectorType::get({lanes.width}, nested.getI1Type());
  return arith::ConstantOp::create(nested, location, DenseElementsAttr::get(type, true));
}

/// The address at `at`; a vector of them where neighbours in lanes are not neighbours in memory.
Value KernelEmitter::address(const Memory &memory, const Index &at, const Lanes &lanes) {
  Type pointer = memory.pointer.getType(), stored = storedType(memory.element);
  if (!at.lanes && (at.stride == 0 || at.stride == 1)) {
    Index start = at;
    start.stride = 0;
    return LLVM::GEPOp::create(nested, location, pointer, stored, memory.pointer, ValueRange{scalarOf(start)});
  }
  return LLVM::GEPOp::create(nested, location, VectorType::get({lanes.width}, pointer), stored, memory.pointer,
                             ValueRange{vectorOf(at, lanes.width)});
}

Value KernelEmitter::load(const Memory &memory, ArrayRef<Index> indices, const Lanes &lanes) {
  Index at = linearize(indices, memory.strides, lanes.width);
  Type stored = storedType(memory.element);
  unsigned alignment = alignmentOf(memory, stored, at, lanes.width);
  Value from = address(memory, at, lanes), element;
  Type type = at.isUniform() ? stored : Type(VectorType::get({lanes.width}, stored));
  if (isa<VectorType>(from.getType())) {
    Value zeros = splat(constant(stored, 0), lanes.width);
    element = LLVM::masked_gather::create(nested, location, type, from, fullMask(lanes), ValueRange{zeros},
                                          nested.getI32IntegerAttr(alignment));
  } else if (lanes.mask && !at.isUniform()) {
    element = LLVM::MaskedLoadOp::create(nested, location, type, from, lanes.mask,
                                         splat(constant(stored, 0), lanes.width), alignment);
  } else {
    element = LLVM::LoadOp::create(nested, location, type, from, alignment);
  }
  if (!memory.element.isInteger(1))
    return element;
  Value zero = constant(stored, 0);
  if (!at.isUniform())
    zero = splat(zero, lanes.width);
  return arith::CmpIOp::create(nested, location, arith::CmpIPredicate::ne, element, zero);
}

/// Whether a mask is known to be of one lane. Of such a masked store whose value was truncated LLVM 22 makes, on x86, a
/// store of the wider type: it would write over the next elements.
static bool hasFirstLaneOnly(Value mask) {
  DenseElementsAttr lanes;
  if (!mask || !matchPattern(mask, m_Constant(&lanes)) || lanes.isSplat())
    return false;
  auto values = lanes.getValues<bool>();
  return values[0] && llvm::none_of(llvm::drop_begin(values), [](bool exists) { return exists; });
}

void KernelEmitter::store(const Memory &memory, ArrayRef<Index> indices, const Lanes &lanes, Value value) {
  Index at = linearize(indices, memory.strides, lanes.width);
  Type stored = storedType(memory.element);
  unsigned alignment = alignmentOf(memory, stored, at, lanes.width);
  if (!at.isUniform())
    value = splat(value, lanes.width);
  if (memory.element.isInteger(1)) {
    Type type = isa<VectorType>(value.getType()) ? Type(VectorType::get({lanes.width}, stored)) : stored;
    value = arith::ExtUIOp::create(nested, location, type, value);
  }
  Value to = address(memory, at, lanes);
  bool isVector = isa<VectorType>(to.getType());
  if (!isVector && !at.isUniform() && hasFirstLaneOnly(lanes.mask)) {
    Value first = vector::ExtractOp::create(nested, location, value, int64_t(0));
    LLVM::StoreOp::create(nested, location, first, to, alignment);
    return;
  }
  if (isVector)
    LLVM::masked_scatter::create(nested, location, value, to, fullMask(lanes), nested.getI32IntegerAttr(alignment));
  else if (lanes.mask && !at.isUniform())
    LLVM::MaskedStoreOp::create(nested, location, value, to, lanes.mask, nested.getI32IntegerAttr(alignment));
  else
    LLVM::StoreOp::create(nested, location, value, to, alignment);
}
