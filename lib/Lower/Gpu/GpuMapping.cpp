// See GpuMapping.h.
#include "GpuMapping.h"
#include "../ElementRules.h"
#include "Intrinsics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

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
/// A column is shared by so many warps at most, each of which has so many of its rows at least; no more threads than keep a device busy.
constexpr int64_t kMostShares = 16, kRowsOfShare = 8, kManyThreads = 1 << 18;
Index perThread(Value base, int64_t multiple, int depth) {
  return {.base = base, .multiple = multiple, .depth = depth};
}

Value slotOf(KernelEmitter &e, Value array, Type type, Value at) {
  return LLVM::GEPOp::create(e.builder(), e.loc(), array.getType(), type, array, ValueRange{at});
}

/// Those who share a row of so many elements.
int64_t countThreads(int64_t size) {
  int64_t threads = kWarp * llvm::PowerOf2Ceil(llvm::divideCeil(size, kWarp * kKept));
  return threads > kMostKeepers ? kReaders : threads;
}

/// Whether each of `threads` has at most as many elements of a row as it may keep.
bool areKept(int64_t size, int64_t width, int64_t threads) {
  return llvm::divideCeil(size / width, threads) * width + (size % width != 0) <= kKept;
}

} // namespace

void GpuMapping::once(KernelEmitter &e, llvm::function_ref<void()> body) {
  function.setLaunch(1, 1);
  body();
}

void GpuMapping::forVectors(KernelEmitter &e, int64_t vectors, llvm::function_ref<void(const Index &)> body) {
  int64_t blocks = llvm::divideCeil(vectors, kBlock);
  function.setLaunch(blocks, kBlock);
  Value id = grid::globalThread(e, kBlock);
  auto inScope = [&] {
    threadDepth = e.currentDepth();
    body(perThread(id, 1, threadDepth));
  };
  if (vectors % kBlock == 0)
    return e.within(inScope);
  e.guarded(grid::isBelow(e, id, vectors), inScope);
}

void GpuMapping::forPositions(KernelEmitter &e, int64_t size, LaneBody body) {
  int64_t width = chooseWidth(size, 1);
  while (size % width != 0)
    width /= 2;
  forVectors(e, size / width, [&](const Index &id) {
    Index position = e.multiply(id, width, 1);
    position.stride = width > 1;
    body(position, {.width = width}, {});
  });
}

void GpuMapping::forColumns(KernelEmitter &e, ArrayRef<int64_t> sizes, int64_t rows, ColumnBody body) {
  int64_t columns = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
  shares = llvm::bit_floor<uint64_t>(
      std::max<int64_t>(1, std::min({kMostShares, rows / kRowsOfShare, kManyThreads / columns})));
  if (sizes.size() == 1 && shares == 1)
    return forPositions(e, sizes.front(), [&](const Index &position, const Lanes &lanes, ValueRange) -> Values {
      body(sizes.front(), position, lanes);
      return {};
    });
  int64_t blocks = 0;
  thread = grid::threadOfBlock(e);
  for (int64_t size : sizes) {
    int64_t own = llvm::divideCeil(size, kWarp);
    forColumnsOf(e, size, blocks, own, body);
    blocks += own;
  }
  function.setLaunch(blocks, kWarp * shares);
}

void GpuMapping::forColumnsOf(KernelEmitter &e, int64_t size, int64_t first, int64_t blocks, ColumnBody body) {
  OpBuilder &b = e.builder();
  Value block = arith::SubIOp::create(b, e.loc(), grid::block(e), e.integer(first));
  e.guarded(grid::isBelow(e, block, blocks), [&] {
    threadDepth = e.currentDepth();
    Value column = arith::MulIOp::create(b, e.loc(), block, e.integer(kWarp));
    column = arith::AddIOp::create(b, e.loc(), column, grid::remainder(e, thread, kWarp));
    Value isFirst = grid::isBelow(e, thread, kWarp), isThere = grid::isBelow(e, column, size);
    Value clamped = arith::MinUIOp::create(b, e.loc(), column, e.integer(size - 1));
    body(size, perThread(clamped, 1, threadDepth), {.exists = arith::AndIOp::create(b, e.loc(), isFirst, isThere)});
  });
}

bool GpuMapping::shareColumn(ArrayRef<Index> indices) const {
  int deepest = 0;
  for (const Index &index : indices)
    deepest = std::max(deepest, index.depth);
  return shares > 1 && deepest == threadDepth;
}

Mapping::Values GpuMapping::forRowsOfColumn(KernelEmitter &e, int64_t rows, ValueRange carried,
                                            KernelEmitter::Body body) {
  Index first = perThread(grid::quotient(e, thread, kWarp), 1, threadDepth);
  return e.loop(first, e.constantIndex(rows), shares, carried, body);
}

Mapping::Values GpuMapping::combineColumn(KernelEmitter &e, Kinds kinds, Values values) {
  OpBuilder &b = e.builder();
  Values arrays;
  for (Value value : values)
    arrays.push_back(function.sharedSlots(e, value.getType(), kWarp * shares));
  for (auto [array, value] : llvm::zip_equal(arrays, values))
    LLVM::StoreOp::create(b, e.loc(), value, slotOf(e, array, value.getType(), thread));
  grid::meetBlock(e);
  Value at = grid::remainder(e, thread, kWarp);
  for (auto [kind, array, value] : llvm::zip_equal(kinds, arrays, values)) {
    Type type = value.getType();
    for (int64_t share = 0; share < shares; ++share) {
      Value place = arith::AddIOp::create(b, e.loc(), at, e.integer(share * kWarp));
      Value other = LLVM::LoadOp::create(b, e.loc(), type, slotOf(e, array, type, place));
      value = share == 0 ? other : combineElements(e, kind, value, other);
    }
  }
  return values;
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
  threads = countThreads(size);
  bool isBlock = threads > kWarp;
  // What an only row has of values stands before the rows, where every warp of a block would come to it.
  bool isAlone = isBlock || rows == 1;
  int64_t perBlock = isAlone ? 1 : kRowBlock / kWarp;
  function.setLaunch(llvm::divideCeil(rows, perBlock), isAlone ? threads : kRowBlock);
  Value row = grid::block(e), inBlock = grid::threadOfBlock(e);
  thread = isAlone ? inBlock : grid::remainder(e, inBlock, kWarp);
  if (!isAlone)
    row = grid::quotient(e, grid::globalThread(e, kRowBlock), kWarp);
  auto inRow = [&] { withinRow(e, [&] { body(perThread(row, 1, rowDepth)); }); };
  if (rows % perBlock == 0)
    return e.within(inRow);
  e.guarded(grid::isBelow(e, row, rows), inRow);
}

bool GpuMapping::keepsRow(int64_t size) const { return areKept(size, chooseWidth(size, 1), countThreads(size)); }

void GpuMapping::withinRow(KernelEmitter &e, llvm::function_ref<void()> body) {
  int outerRow = std::exchange(rowDepth, e.currentDepth());
  int outerThread = std::exchange(threadDepth, rowDepth + 1);
  std::map<int64_t, Index> outerEnds = std::exchange(ends, {}); // of what this scope defines, others know nothing
  e.within([&] { e.atDepth(rowDepth, body); });
  rowDepth = outerRow, threadDepth = outerThread, ends = std::move(outerEnds);
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
  assert(thread && "forRows states the threads of a row before a row's elements come");
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
  bool isKept = areKept(size, width, threads);
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

bool GpuMapping::areShared(ArrayRef<Index> indices) const {
  return llvm::all_of(indices, [&](const Index &index) { return index.depth < threadDepth; });
}

Mapping::Values GpuMapping::combine(KernelEmitter &e, Kinds kinds, Values values) {
  for (auto [kind, value] : llvm::zip_equal(kinds, values))
    for (int64_t distance = kWarp / 2; distance > 0; distance /= 2)
      value = combineElements(e, kind, value, grid::exchange(e, value, distance));
  return threads > kWarp ? combineWarps(e, kinds, std::move(values)) : values;
}

Mapping::Values GpuMapping::combineWarps(KernelEmitter &e, Kinds kinds, Values values) {
  OpBuilder &b = e.builder();
  int64_t warps = threads / kWarp;
  Value warp = grid::quotient(e, thread, kWarp), lane = grid::remainder(e, thread, kWarp);
  Values arrays;
  for (Value value : values)
    arrays.push_back(function.sharedSlots(e, value.getType(), warps));
  e.guarded(grid::isBelow(e, lane, 1), [&] {
    for (auto [array, value] : llvm::zip_equal(arrays, values))
      LLVM::StoreOp::create(b, e.loc(), value, slotOf(e, array, value.getType(), warp));
  });
  grid::meetBlock(e);
  Value mine = grid::remainder(e, lane, warps);
  for (auto [kind, array, value] : llvm::zip_equal(kinds, arrays, values)) {
    value = LLVM::LoadOp::create(b, e.loc(), value.getType(), slotOf(e, array, value.getType(), mine));
    for (int64_t distance = warps / 2; distance > 0; distance /= 2)
      value = combineElements(e, kind, value, grid::exchange(e, value, distance));
  }
  return values;
}

void GpuMapping::separate(KernelEmitter &e) { threads > kWarp ? grid::meetBlock(e) : grid::meetWarp(e); }

void GpuMapping::storeRow(KernelEmitter &e, llvm::function_ref<void()> store) {
  e.guarded(grid::isBelow(e, thread, 1), store);
}
