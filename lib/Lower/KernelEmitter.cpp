// Scopes, loops and the cache of evaluated elements; see KernelEmitter.h for the idea.
#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

KernelEmitter::KernelEmitter(Block *body, Location loc, Mapping &mapping, unsigned constantSpace)
    : nested(OpBuilder::atBlockEnd(body)), location(loc), target(mapping), constantSpace(constantSpace) {
  scopes.push_back({body, {}, {}});
  enter(0);
}

void KernelEmitter::enter(int to) {
  depth = to;
  Scope &scope = scopes[to];
  if (!scope.openLoops.empty())
    nested.setInsertionPoint(scope.openLoops.back());
  else if (!scope.block->empty() && scope.block->back().hasTrait<OpTrait::IsTerminator>())
    nested.setInsertionPoint(&scope.block->back());
  else
    nested.setInsertionPointToEnd(scope.block);
}

KernelEmitter::Place KernelEmitter::placeOf(Value value, ArrayRef<Index> indices, const Lanes &lanes) {
  auto number = [](Value v) { return (int64_t)v.getAsOpaquePointer(); };
  Place place{{number(value)}, 0, {}};
  if (!llvm::all_of(indices, [](const Index &index) { return index.isUniform(); }))
    place.lanes = lanes;
  llvm::append_range(place.key, ArrayRef<int64_t>{place.lanes.width, number(place.lanes.mask)});
  place.depth = place.lanes.depth;
  for (const Index &index : indices) {
    llvm::append_range(place.key,
                       ArrayRef<int64_t>{number(index.base), index.offset, index.stride, number(index.lanes)});
    place.depth = std::max(place.depth, index.depth);
  }
  return place;
}

bool KernelEmitter::isKnown(Value value, ArrayRef<Index> indices, const Lanes &lanes) {
  Place place = placeOf(value, indices, lanes);
  return scopes[place.depth].known.count(place.key);
}

void KernelEmitter::remember(Value value, ArrayRef<Index> indices, const Lanes &lanes, Value element) {
  Place place = placeOf(value, indices, lanes);
  scopes[place.depth].known[place.key] = element;
}

Value KernelEmitter::evaluate(Value value, ArrayRef<Index> indices, const Lanes &lanes) {
  Place place = placeOf(value, indices, lanes);
  auto &known = scopes[place.depth].known;
  if (auto found = known.find(place.key); found != known.end())
    return found->second;
  InScope scope(*this, place.depth);
  Operation *op = value.getDefiningOp();
  Value element = op ? findElementRule(op->getName().getStringRef())(*this, op, indices, place.lanes)
                     : load(memoryOf(value), indices, place.lanes);
  return scopes[place.depth].known[place.key] = element;
}

SmallVector<Value, 3> KernelEmitter::evaluateOperands(Operation *op, ArrayRef<Index> indices, const Lanes &lanes) {
  SmallVector<Value, 3> elements;
  for (Value operand : op->getOperands())
    elements.push_back(evaluate(operand, indices, lanes));
  if (llvm::any_of(elements, [](Value element) { return isa<VectorType>(element.getType()); }))
    for (Value &element : elements)
      element = splat(element, lanes.width);
  return elements;
}

void KernelEmitter::open(Operation *op, Block *body) {
  for (Scope &scope : scopes)
    if (scope.block == op->getBlock())
      scope.openLoops.push_back(op);
  scopes.push_back({body, {}, {}});
  enter(scopes.size() - 1);
}

void KernelEmitter::close(Operation *op) {
  scopes.pop_back();
  for (Scope &scope : scopes)
    if (scope.block == op->getBlock())
      scope.openLoops.pop_back();
}

void KernelEmitter::guarded(Value condition, llvm::function_ref<void()> body) {
  int parent = depth;
  auto op = scf::IfOp::create(nested, location, condition, /*withElseRegion=*/false);
  open(op, op.thenBlock());
  body();
  close(op);
  enter(parent);
}

Value KernelEmitter::chosen(Value condition, llvm::function_ref<Value()> body) {
  int parent = depth;
  // What the branch gives, and so the op's type, is known when it has been emitted.
  auto draft = scf::IfOp::create(nested, location, condition, /*withElseRegion=*/true);
  open(draft, draft.thenBlock());
  Value value = body();
  close(draft);
  enter(parent);
  auto op = scf::IfOp::create(nested, location, value.getType(), condition, /*withElseRegion=*/true);
  op.getThenRegion().takeBody(draft.getThenRegion());
  draft.erase();
  OpBuilder::InsertionGuard guard(nested);
  op.thenBlock()->getTerminator()->erase();
  nested.setInsertionPointToEnd(op.thenBlock());
  scf::YieldOp::create(nested, location, value);
  nested.setInsertionPointToEnd(op.elseBlock());
  auto vector = dyn_cast<VectorType>(value.getType());
  Value zero = constant(getElementTypeOrSelf(value.getType()), 0);
  scf::YieldOp::create(nested, location, splat(zero, vector ? vector.getNumElements() : 1));
  return op.getResult(0);
}

void KernelEmitter::within(llvm::function_ref<void()> body) {
  int parent = depth;
  scopes.push_back(Scope{scopes[parent].block, scopes[parent].openLoops, {}});
  enter(scopes.size() - 1);
  body();
  scopes.pop_back();
  enter(parent);
}

void KernelEmitter::atDepth(int at, llvm::function_ref<void()> body) {
  InScope scope(*this, at);
  body();
}

SmallVector<Value> KernelEmitter::loop(const Index &from, const Index &to, int64_t step, ValueRange carried,
                                       Body body) {
  bool once = !from.base && !to.base && to.offset - from.offset <= step;
  if (once)
    return body(from, carried);
  int parent = depth;
  auto op = scf::ForOp::create(nested, location, scalarOf(from), scalarOf(to), integer(step), carried);
  open(op, op.getBody());
  int inner = depth;
  Index position{.base = op.getInductionVar(), .multiple = step, .depth = inner};
  if (from.base || from.offset % step != 0)
    position.multiple = from.base && from.offset == 0 && from.multiple % step == 0 ? step : 1;
  SmallVector<Value> results = body(position, op.getRegionIterArgs());
  enter(inner);
  if (!carried.empty())
    scf::YieldOp::create(nested, location, results);
  close(op);
  enter(parent);
  return llvm::to_vector_of<Value>(op.getResults());
}

Value KernelEmitter::integer(int64_t value) {
  return arith::ConstantIntOp::create(nested, location, nested.getI64Type(), value);
}

Value KernelEmitter::constant(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value); number && number.getType().isBF16())
    value = nested.getIntegerAttr(nested.getI16Type(), number.getValue().bitcastToAPInt());
  return arith::ConstantOp::create(nested, location, value);
}

Value KernelEmitter::constant(Type element, double value) {
  if (isa<FloatType>(element))
    return constant(nested.getFloatAttr(element, value));
  return arith::ConstantOp::create(nested, location, nested.getIntegerAttr(element, (int64_t)value));
}

Value KernelEmitter::splat(Value value, int64_t width) {
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(nested, location, VectorType::get({width}, value.getType()), value);
}

Value KernelEmitter::constantMask(int64_t width, int64_t count) {
  SmallVector<bool> exists(width);
  std::fill_n(exists.begin(), count, true);
  InScope kernel(*this, 0);
  auto type = VectorType::get({width}, nested.getI1Type());
  return arith::ConstantOp::create(nested, location, DenseElementsAttr::get(type, ArrayRef<bool>(exists)));
}

Memory KernelEmitter::constantMemory(graph::ConstantOp op) {
  auto value = cast<DenseElementsAttr>(op.getValue());
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  if (element.isInteger(1)) {
    SmallVector<int8_t> bytes = llvm::to_vector_of<int8_t>(value.getValues<bool>());
    value = DenseElementsAttr::get(type.clone(nested.getI8Type()), ArrayRef<int8_t>(bytes));
  }
  auto function = cast<func::FuncOp>(scopes.front().block->getParentOp());
  std::string name = (function.getName() + "_constant" + llvm::Twine(constants++)).str();
  auto array = LLVM::LLVMArrayType::get(value.getElementType(), value.getNumElements());
  OpBuilder::InsertionGuard guard(nested);
  nested.setInsertionPoint(function);
  LLVM::GlobalOp::create(nested, location, array, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                         value.reshape(RankedTensorType::get({value.getNumElements()}, value.getElementType())),
                         /*alignment=*/64, constantSpace);
  enter(depth);
  auto pointer = LLVM::LLVMPointerType::get(nested.getContext(), constantSpace);
  Memory memory{LLVM::AddressOfOp::create(nested, location, pointer, name), element,
                SmallVector<int64_t, 4>(type.getRank(), 1)};
  for (int64_t i = type.getRank() - 2; i >= 0; --i)
    memory.strides[i] = memory.strides[i + 1] * type.getDimSize(i + 1);
  return memory;
}
