// See GpuMapping.h.
#include "GpuMapping.h"
#include "../ElementRules.h"
#include "../EmitKernel.h"
#include "Intrinsics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xlc/Lower/Lower.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

constexpr int64_t kWarp = 32;
/// Threads of a block whose threads or warps are independent.
constexpr int64_t kBlock = 256, kRowBlock = 128;
/// Elements of a row that a thread may keep in registers, of each value: a warp has a row alone up to 32 times as many.
constexpr int64_t kKept = 32;
/// Above so many threads of a block a thread has too few registers to keep elements; then several smaller blocks hide each other's
/// barriers.
constexpr int64_t kMostKeepers = 512, kReaders = 256;
/// Bits of the parameter that says which results are added to.
constexpr size_t kMostAdded = 32;
/// Of one access.
constexpr int64_t kAccessBytes = 16;
/// Each lane of erf, a choice of polynomials, takes more registers than eight of them leave.
constexpr int64_t kMostLanes = 8, kMostLanesOfErf = 4;

Index perThread(Value base, int64_t multiple, int depth) {
  return {.base = base, .multiple = multiple, .depth = depth};
}

} // namespace

FailureOr<func::FuncOp> GpuMapping::createFunction(OpBuilder &builder, StringRef name, const KernelRequest &asked) {
  request = &asked;
  func::FuncOp kernel = asked.kernel;
  if (failed(verifyGpuKernel(kernel)))
    return failure();
  if (asked.accumulates.size() > kMostAdded && llvm::is_contained(asked.accumulates, true))
    return kernel.emitError() << "a GPU has no code for kernels of more than " << kMostAdded
                              << " results that are added to";
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), constantSpace());
  SmallVector<Type> parameters(asked.memory.size(), pointer);
  if (!kernel.getOps<graph::RandomBitsOp>().empty())
    parameters.push_back(pointer);
  if (llvm::is_contained(asked.accumulates, true))
    parameters.push_back(builder.getI32Type());
  movesLanes = llvm::any_of(kernel.front(), [](Operation &op) { return !keepsNeighbours(op); });
  mostLanes = kernel.getOps<graph::ErfOp>().empty() ? kMostLanes : kMostLanesOfErf;
  code = func::FuncOp::create(builder, kernel.getLoc(), name, builder.getFunctionType(parameters, {}));
  builder.setInsertionPointToStart(code.addEntryBlock());
  func::ReturnOp::create(builder, code.getLoc());
  return code;
}

Memory GpuMapping::bindOperand(KernelEmitter &e, size_t i) {
  Value address = code.getArgument(i);
  if (i == request->memory.size())
    return {address, e.builder().getI32Type(), {1}, kAccessBytes};
  Memory memory{address, request->memory[i].getElementType(), {}, request->alignments[i]};
  int64_t offset;
  (void)request->memory[i].getStridesAndOffset(memory.strides, offset);
  return memory;
}

Value GpuMapping::bindAdds(KernelEmitter &e, size_t i) {
  OpBuilder &b = e.builder();
  Value flags = code.getArguments().back();
  Value bit = arith::AndIOp::create(b, e.loc(), flags, e.constant(b.getI32Type(), double(int64_t(1) << i)));
  return arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ne, bit, e.constant(b.getI32Type(), 0));
}

Value GpuMapping::loadWhere(KernelEmitter &e, Value condition, const Memory &memory, ArrayRef<Index> indices,
                            const Lanes &lanes) {
  return e.chosen(condition, [&] { return e.load(memory, indices, lanes); });
}

unsigned GpuMapping::constantSpace() const { return grid::globalSpace(); }

void GpuMapping::setLaunch(int64_t blocks, int64_t blockThreads) {
  OpBuilder builder(code.getContext());
  code->setAttr(kKernelGrid, builder.getI64IntegerAttr(blocks));
  code->setAttr(kKernelBlock, builder.getI64IntegerAttr(blockThreads));
}

void GpuMapping::once(KernelEmitter &e, llvm::function_ref<void()> body) {
  setLaunch(1, 1);
  body();
}

void GpuMapping::forVectors(KernelEmitter &e, int64_t vectors, llvm::function_ref<void(const Index &)> body) {
  int64_t blocks = llvm::divideCeil(vectors, kBlock);
  setLaunch(blocks, kBlock);
  Value id = grid::globalThread(e, kBlock);
  auto inScope = [&] {
    threadDepth = e.currentDepth();
    body(perThread(id, 1, threadDepth));
  };
  if (vectors % kBlock == 0)
    return e.within(inScope);
  e.guarded(grid::isBelow(e, id, vectors), inScope);
}

void GpuMapping::forPositions(KernelEmitter &e, int64_t size, bool columns, LaneBody body) {
  int64_t width = chooseWidth(size, 1);
  while (size % width != 0)
    width /= 2;
  forVectors(e, size / width, [&](const Index &id) {
    Index position = e.multiply(id, width, 1);
    position.stride = width > 1;
    body(position, {.width = width}, {});
  });
}

void GpuMapping::forElements(KernelEmitter &e, int64_t rows, int64_t size, ElementBody body) {
  int64_t width = chooseWidth(size, 1);
  if (size % width != 0)
    return forElementsOfRows(e, rows, size, width, body);
  forVectors(e, rows * size / width, [&](const Index &id) {
    Index linear = e.multiply(id, width, 1);
    Index row = rows == 1 ? Index{} : e.divide(linear, size, 1);
    Index position = rows == 1 ? linear : e.remainder(linear, size, 1);
    position.stride = width > 1;
    body(row, position, {.width = width});
  });
}

void GpuMapping::forElementsOfRows(KernelEmitter &e, int64_t rows, int64_t size, int64_t width, ElementBody body) {
  int64_t vectors = size / width, perRow = vectors + size % width;
  forVectors(e, rows * perRow, [&](const Index &id) {
    Index row = e.divide(id, perRow, 1), at = e.remainder(id, perRow, 1);
    Index first = e.multiply(at, width, 1), single = e.add(at, e.constantIndex(vectors * width - vectors), 1);
    first.stride = 1;
    Value inVector = grid::isBelow(e, at.base, vectors);
    // What is read there is read inside, not before.
    auto within = [&](Value condition, Index &position, const Lanes &lanes) {
      e.guarded(condition, [&] {
        position.depth = e.currentDepth();
        body(row, position, lanes);
      });
    };
    within(inVector, first, {.width = width});
    within(grid::isNot(e, inVector), single, {});
  });
}

void GpuMapping::forRows(KernelEmitter &e, int64_t rows, int64_t size, RowBody body) {
  int64_t groups = llvm::divideCeil(size, kWarp * kKept);
  threads = kWarp * llvm::PowerOf2Ceil(groups);
  if (threads > kMostKeepers)
    threads = kReaders;
  bool isBlock = threads > kWarp;
  // What an only row has of values stands before the rows, where every warp of a block would come to it.
  bool isAlone = isBlock || rows == 1;
  int64_t perBlock = isAlone ? 1 : kRowBlock / kWarp;
  setLaunch(llvm::divideCeil(rows, perBlock), isAlone ? threads : kRowBlock);
  Value row = grid::block(e), inBlock = grid::threadOfBlock(e);
  thread = isAlone ? inBlock : grid::remainder(e, inBlock, kWarp);
  if (!isAlone)
    row = grid::quotient(e, grid::globalThread(e, kRowBlock), kWarp);
  auto inRow = [&] {
    rowDepth = e.currentDepth();
    threadDepth = rowDepth + 1;
    e.within([&] { e.atDepth(rowDepth, [&] { body(perThread(row, 1, rowDepth)); }); });
  };
  if (rows % perBlock == 0)
    return e.within(inRow);
  e.guarded(grid::isBelow(e, row, rows), inRow);
}

Index GpuMapping::clampedThread(KernelEmitter &e, int depth, int64_t rest) {
  auto clamp = [&] {
    Value last;
    e.atDepth(depth, [&] { last = arith::MinUIOp::create(e.builder(), e.loc(), thread, e.integer(rest - 1)); });
    return perThread(last, 1, depth);
  };
  if (depth != threadDepth)
    return clamp();
  auto [found, isNew] = ends.try_emplace(rest);
  if (isNew)
    found->second = clamp();
  return found->second;
}

Mapping::Values GpuMapping::forLanes(KernelEmitter &e, int64_t size, int64_t width, ValueRange carried, LaneBody body) {
  if (e.currentDepth() < rowDepth) { // what no row differs in stands before the rows
    Values values;
    e.within([&] { values = forLanesOf(e, e.currentDepth(), size, width, carried, body); });
    return values;
  }
  return forLanesOf(e, threadDepth, size, width, carried, body);
}

Mapping::Values GpuMapping::forLanesOf(KernelEmitter &e, int depth, int64_t size, int64_t width, ValueRange carried,
                                       LaneBody body) {
  int64_t vectors = size / width, turns = vectors / threads, rest = vectors % threads;
  Values values = llvm::to_vector_of<Value>(carried);
  auto turn = [&](const Index &thread, const Index &begin, const Lanes &lanes, ValueRange inner) {
    Index position = e.add(begin, e.multiply(thread, width, 1), 1);
    position.stride = width > 1;
    return body(position, lanes, inner);
  };
  Index own = perThread(thread, 1, depth);
  int64_t stride = threads * width;
  int64_t tail = size % width;
  bool isKept = llvm::divideCeil(vectors, threads) * width + bool(tail) <= kKept;
  for (int64_t i = 0; isKept && i < turns; ++i)
    values = turn(own, e.constantIndex(i * stride), {.width = width}, values);
  if (!isKept && turns > 0)
    values = e.loop(e.constantIndex(0), e.constantIndex(turns * stride), stride, values,
                    [&](const Index &begin, ValueRange inner) { return turn(own, begin, {.width = width}, inner); });
  if (rest > 0) {
    Lanes lanes{.width = width, .exists = grid::isBelow(e, thread, rest)};
    values = turn(clampedThread(e, depth, rest), e.constantIndex(turns * stride), lanes, values);
  }
  if (tail == 0)
    return values;
  Index last = e.add(clampedThread(e, depth, tail), e.constantIndex(vectors * width), 1);
  return body(last, {.exists = grid::isBelow(e, thread, tail)}, values);
}

int64_t GpuMapping::chooseWidth(int64_t size, int64_t registers) const {
  int64_t width = 1;
  for (MemRefType memory : request->memory)
    if (memory.getRank() > 0 && memory.getShape().back() > 1)
      width = std::max<int64_t>(width, kAccessBytes * 8 / std::max(8u, memory.getElementTypeBitWidth()));
  width = std::min(width, mostLanes);
  while (width > 1 && (movesLanes || (size % width != 0 && !areRowsAligned(size, width))))
    width /= 2;
  return width;
}

bool GpuMapping::areRowsAligned(int64_t size, int64_t width) const {
  bool has = false;
  for (MemRefType memory : request->memory) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (memory.getRank() < 2 || memory.getShape().back() != size || failed(memory.getStridesAndOffset(strides, offset)))
      continue;
    has = true;
    if (llvm::any_of(ArrayRef(strides).drop_back(), [&](int64_t stride) { return stride % width != 0; }))
      return false;
  }
  return has;
}

bool GpuMapping::areShared(ArrayRef<Index> indices) const {
  return llvm::all_of(indices, [&](const Index &index) { return index.depth < threadDepth; });
}

Mapping::Values GpuMapping::combine(KernelEmitter &e, Kinds kinds, Values values) {
  for (auto [kind, value] : llvm::zip_equal(kinds, values))
    for (int64_t distance = kWarp / 2; distance > 0; distance /= 2)
      value = combineElements(e, kind, value, grid::exchange(e, value, distance));
  return threads > kWarp ? combineWarps(e, kinds, std::move(values)) : values;
}

Value GpuMapping::sharedSlots(KernelEmitter &e, Type type, int64_t count) {
  std::string name = (code.getName() + "_shared" + Twine(slots++)).str();
  return grid::sharedArray(e, code, name, type, count);
}

Mapping::Values GpuMapping::combineWarps(KernelEmitter &e, Kinds kinds, Values values) {
  OpBuilder &b = e.builder();
  int64_t warps = threads / kWarp;
  Value warp = grid::quotient(e, thread, kWarp), lane = grid::remainder(e, thread, kWarp);
  Values arrays;
  auto slot = [&](Value array, Value value, Value at) -> Value {
    return LLVM::GEPOp::create(b, e.loc(), array.getType(), value.getType(), array, ValueRange{at});
  };
  for (Value value : values)
    arrays.push_back(sharedSlots(e, value.getType(), warps));
  e.guarded(grid::isBelow(e, lane, 1), [&] {
    for (auto [array, value] : llvm::zip_equal(arrays, values))
      LLVM::StoreOp::create(b, e.loc(), value, slot(array, value, warp));
  });
  grid::meetBlock(e);
  Value mine = grid::remainder(e, lane, warps);
  for (auto [kind, array, value] : llvm::zip_equal(kinds, arrays, values)) {
    value = LLVM::LoadOp::create(b, e.loc(), value.getType(), slot(array, value, mine));
    for (int64_t distance = warps / 2; distance > 0; distance /= 2)
      value = combineElements(e, kind, value, grid::exchange(e, value, distance));
  }
  return values;
}

void GpuMapping::separate(KernelEmitter &e) { threads > kWarp ? grid::meetBlock(e) : grid::meetWarp(e); }

void GpuMapping::storeRow(KernelEmitter &e, llvm::function_ref<void()> store) {
  e.guarded(grid::isBelow(e, thread, 1), store);
}
