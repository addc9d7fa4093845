// The element rule of graph.random_bits: Philox 4x32-10 in the kernel (include/xlc/Runtime/Philox.h). A word of 32 bits
// is the lower half of an i64, so that the product of two words is one multiplication; intermediate values of the upper
// half are ignored.
//
// A counter yields the words of four neighbours. Where lanes are neighbours in the whole tensor, beginning at a
// multiple of four, each counter is drawn once for its four lanes; elsewhere each lane draws the counter of its element
// and selects its word. Both give the same bits.
#include "ElementRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xlc/Runtime/Philox.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::lower;

namespace {

/// Arithmetic on integers of 64 bits, scalars or vectors of `width` lanes.
class Words {
public:
  Words(KernelEmitter &e, int64_t width) : e(e), b(e.builder()), width(width) {}

  Value number(int64_t value) {
    return e.splat(arith::ConstantOp::create(b, e.loc(), b.getI64IntegerAttr(value)), width);
  }
  Value wide(Value x) { return e.splat(x, width); }
  Value low(Value x) { return both(x, number(0xffffffff)); }
  Value high(Value x) { return arith::ShRUIOp::create(b, e.loc(), x, number(32)); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, e.loc(), x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, e.loc(), x, y); }
  Value differ(Value x, Value y) { return arith::XOrIOp::create(b, e.loc(), x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, e.loc(), x, y); }
  Value shiftDown(Value x, int64_t by) { return arith::ShRUIOp::create(b, e.loc(), x, number(by)); }
  Value shiftUp(Value x, int64_t by) { return arith::ShLIOp::create(b, e.loc(), x, number(by)); }
  Value multiplyLow(Value x, uint32_t by) { return arith::MulIOp::create(b, e.loc(), low(x), number(by)); }
  Value isEqual(Value x, Value y) { return arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::eq, x, y); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, e.loc(), condition, x, y); }

  /// The four words of counters, each the lower half of its integer.
  std::array<Value, 4> draw(Value counter, Value subsequence, Value key) {
    std::array<Value, 4> c{counter, high(counter), wide(subsequence), high(wide(subsequence))};
    Value keyLow = low(wide(key)), keyHigh = high(wide(key));
    for (int round = 0; round < runtime::kPhiloxRounds; ++round) {
      if (round > 0) {
        keyLow = low(add(keyLow, number(runtime::kPhiloxKeyLow)));
        keyHigh = low(add(keyHigh, number(runtime::kPhiloxKeyHigh)));
      }
      Value left = multiplyLow(c[0], runtime::kPhiloxLeft), right = multiplyLow(c[2], runtime::kPhiloxRight);
      c = {differ(differ(high(right), c[1]), keyLow), right, differ(differ(high(left), c[3]), keyHigh), left};
    }
    return c;
  }

private:
  KernelEmitter &e;
  OpBuilder &b;
  int64_t width;
};

/// Each element by itself.
Value drawEach(KernelEmitter &e, Value index, Value subsequence, Value key, int64_t width) {
  Words w(e, width);
  std::array<Value, 4> words = w.draw(w.shiftDown(index, 2), subsequence, key);
  Value which = w.both(index, w.number(runtime::kPhiloxWords - 1)), word = words[3];
  for (int i = 2; i >= 0; --i)
    word = w.select(w.isEqual(which, w.number(i)), words[i], word);
  Type i32 = e.builder().getI32Type();
  Type type = width == 1 ? i32 : Type(VectorType::get({width}, i32));
  return arith::TruncIOp::create(e.builder(), e.loc(), type, word);
}

/// `width` neighbours, the first of which is `first`, a multiple of four.
Value drawNeighbours(KernelEmitter &e, Value first, Value subsequence, Value key, int64_t width) {
  OpBuilder &b = e.builder();
  int64_t count = width / runtime::kPhiloxWords;
  Words w(e, count);
  Value counter = w.add(w.wide(Words(e, 1).shiftDown(first, 2)), e.vectorOf(Index{.stride = 1}, count));
  std::array<Value, 4> words = w.draw(counter, subsequence, key);
  auto join = [&](Value below, Value above) { return w.either(w.low(below), w.shiftUp(above, 32)); };
  Value front = join(words[0], words[1]), back = join(words[2], words[3]);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count; ++i)
    order.append({i, count + i});
  Value all = vector::ShuffleOp::create(b, e.loc(), front, back, order);
  return vector::BitCastOp::create(b, e.loc(), VectorType::get({width}, b.getI32Type()), all);
}

} // namespace

Value lower::randomBitsElement(KernelEmitter &e, Operation *op, ArrayRef<Index> indices, const Lanes &lanes) {
  auto bits = cast<graph::RandomBitsOp>(op);
  Value index = e.evaluate(bits.getIndex(), indices, lanes), key = e.evaluate(bits.getKey(), indices, lanes);
  Value subsequence = e.evaluate(bits.getSubsequence(), indices, lanes);
  auto isVector = [](Value value) { return isa<VectorType>(value.getType()); };
  bool isOneRow = !isVector(key) && !isVector(subsequence);
  if (!isVector(index) && isOneRow)
    return drawEach(e, index, subsequence, key, 1);
  int64_t width = lanes.width;
  index = e.splat(index, width);
  if (!isOneRow || width < 2 * runtime::kPhiloxWords || width % runtime::kPhiloxWords != 0)
    return drawEach(e, index, subsequence, key, width);
  OpBuilder &b = e.builder();
  Words all(e, width), one(e, 1);
  Value first = vector::ExtractOp::create(b, e.loc(), index, ArrayRef<int64_t>{0});
  Value expected = all.add(all.wide(first), e.vectorOf(Index{.stride = 1}, width));
  Value follow = vector::ReductionOp::create(b, e.loc(), vector::CombiningKind::AND, all.isEqual(index, expected));
  Value begins = one.isEqual(one.both(first, one.number(runtime::kPhiloxWords - 1)), one.number(0));
  Value areNeighbours = one.both(follow, begins);
  Value isElsewhere = one.differ(areNeighbours, e.constant(b.getBoolAttr(true)));
  Value together = e.chosen(areNeighbours, [&] { return drawNeighbours(e, first, subsequence, key, width); });
  Value apart = e.chosen(isElsewhere, [&] { return drawEach(e, index, subsequence, key, width); });
  return arith::OrIOp::create(b, e.loc(), together, apart);
}
