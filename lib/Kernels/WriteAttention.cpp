// See WriteAttention.h. Letters of a product: b batch, g group of heads that share keys and values, m head of the
// group, q query, k key, d and e features.
#include "WriteAttention.h"
#include "xlc/Dialect/Graph/Draws.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"

#include <limits>

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

namespace {

/// The score of a key that is not seen.
constexpr double kNever = -std::numeric_limits<double>::infinity();

template <class OpT> class AttentionWriter {
public:
  explicit AttentionWriter(OpT op) : op(op), f(op) {
    ArrayRef<int64_t> ofQuery = typeOf(op.getQ()).getShape(), ofKey = typeOf(op.getK()).getShape();
    batch = ofQuery[0], queries = ofQuery[1], heads = ofQuery[2];
    keys = ofKey[1], groups = ofKey[2], members = heads / groups;
  }

  void writeForward() {
    Rows rows = writeRows();
    Value out = product("bgmqk,bkge->bqgme", multiplied(dropped(rows.p)), op.getV(), elementType());
    Type wide = typeOf(op.getLse()).getElementType();
    Value lse = f.add(f.convert(rows.largest, wide), f.log(f.convert(rows.sum, wide)));
    if (rows.seesNone) {
      Value infinite = f.number(kNever, lse);
      Value finite = f.number(std::numeric_limits<float>::lowest(), lse);
      lse = f.select(rows.seesNone, f.select(rows.attends, finite, infinite), lse);
    }
    replaceBy({f.reshape(out, typeOf(op.getOut()).getShape()), lse});
  }

  /// The rows are in registers, so their sums are made again rather than read: an exponential of a difference from lse
  /// would be other bits than forward's.
  void writeBackward() {
    Rows rows = writeRows();
    Value p = rows.p, dout = headsByGroup(op.getDout()), q = headsByGroup(op.getQ());
    Value dp = f.reshape(product("bgmqe,bkge->bgmqk", dout, op.getV(), f.b.getF32Type()), typeOf(p).getShape());
    dp = dropped(dp);
    Value mean = f.reduceRows(Reduction::sum, f.mul(p, dp));
    Value ds = f.mul(f.mul(p, f.sub(dp, f.alongRows(mean, dp))), op.getScale().convertToDouble());
    if (rows.seesNone && !op.getAdded()) // nothing there depends on the scores; what attends to none has p = 0
      ds = f.select(f.alongRows(rows.seesNone, ds), f.number(0, ds), ds);
    Value dv = product("bgmqk,bgmqe->bkge", multiplied(dropped(p)), dout, elementType());
    Value dq = product("bgmqk,bkgd->bqgmd", multiplied(ds), op.getK(), elementType());
    Value dk = product("bgmqk,bgmqd->bkgd", multiplied(ds), q, elementType());
    replaceBy({f.reshape(dq, typeOf(op.getDq()).getShape()), dk, dv});
  }

  /// What `splitUnseen` writes.
  void splitForward() {
    if (op.getUniform())
      return;
    Value unseen = findUnseen(), out = op.getOut();
    f.b.setInsertionPointAfter(op);
    Value none = f.number(0, out), seen = f.select(f.broadcast(unseen, out), none, out);
    out.replaceAllUsesExcept(seen, seen.getDefiningOp());
    op.setUniform(true);
  }

  void splitBackward() {
    Value dout = op.getDout(), unseen = findUnseen(), given = op.getUniform() ? sumUnseen(unseen) : Value();
    Value hidden = f.broadcast(unseen, dout);
    op.getDoutMutable().assign(f.select(hidden, f.number(0, dout), dout));
    op.setUniform(true);
    if (!given)
      return;
    f.b.setInsertionPointAfter(op);
    Value dv = op.getDv(), wide = f.convert(dv, f.b.getF32Type());
    Value alike =
        f.broadcast(f.reshape(f.scale(given, 1, keys), {batch, 1, groups, typeOf(dv).getShape().back()}), wide);
    dv.replaceAllUsesExcept(f.convert(f.add(wide, alike), elementType()), wide.getDefiningOp());
  }

private:
  /// The sum of dout over the queries that see no key, of each group. A product with ones and zeros, which reads
  /// dout once.
  Value sumUnseen(Value unseen) {
    Value dout = op.getDout();
    int64_t width = typeOf(dout).getShape().back(), apart = typeOf(unseen).getDimSize(2);
    Value ones = f.number(1, RankedTensorType::get({batch, queries, apart}, elementType()));
    Value chosen = f.select(f.broadcast(f.reshape(unseen, typeOf(unseen).getShape().drop_back()), ones), ones, 0);
    Value given = product("bqh,bqhe->bhe", chosen, f.reshape(dout, {batch, queries, apart, heads * width / apart}),
                          f.b.getF32Type());
    given = f.reshape(given, {batch, groups, members, width});
    return members > 1 ? f.sum(given, 2, /*keeps=*/false) : given;
  }

  Type elementType() { return typeOf(op.getQ()).getElementType(); }

  /// Probabilities, or gradients of them, as the product with V has them.
  Value dropped(Value ofScores) {
    return op.getRatio() ? dropScores(f, ofScores, op.getDraws(), op.getRatio()->convertToDouble()) : ofScores;
  }

  /// As it is multiplied: in the type of q, k and v, heads by their groups.
  Value multiplied(Value ofScores) {
    return f.reshape(f.convert(ofScores, elementType()), {batch, groups, members, queries, keys});
  }

  /// [batch, queries, heads, features] as [batch, groups, members, queries, features]: what members and queries are summed
  /// over lies together then. A copy where a group has several heads; else strides.
  Value headsByGroup(Value x) {
    return f.transpose(f.reshape(x, {batch, queries, groups, members, typeOf(x).getShape().back()}), {0, 2, 3, 1, 4});
  }

  Value product(StringRef letters, Value x, Value y, Type element) {
    Value made = f.contract(letters, x, y);
    made.setType(typeOf(made).clone(element));
    return made;
  }

  /// Where a query sees no key, of all that it sees by the mask and the window: [1|batch, 1|queries, 1|heads, 1].
  Value findUnseen() {
    Value bias = op.getBias();
    SmallVector<int64_t> shape(typeOf(bias).getShape());
    if (op.getMask() == Mask::causal || op.getWindow())
      shape[2] = queries;
    Value score = f.number(0, RankedTensorType::get(shape, f.b.getF32Type())), seen = f.broadcast(bias, score);
    if (Value visible = visibleKeys(shape))
      seen = f.both(visible, seen);
    Value unseen = isForbidden(f.reduceRows(Reduction::max, f.select(seen, score, kNever)));
    ArrayRef<int64_t> sizes = typeOf(unseen).getShape();
    return f.reshape(f.transpose(unseen, {0, 2, 1}), {sizes[0], sizes[2], sizes[1], 1});
  }

  Value isForbidden(Value score) {
    Value made = f.compare(Predicate::le, score, f.number(kForbidden, score));
    made.getDefiningOp()->setAttr(kForbids, f.b.getUnitAttr());
    return made;
  }

  /// Whether a query may see no key at all. Causality alone leaves the first, and windows the query's own where there
  /// is one.
  bool maySeeNone() { return op.getBias() || (op.getWindow() && queries > keys); }

  /// Scaled, with -inf where the mask, the window or a condition forbids.
  Value maskedScores() {
    Value q = headsByGroup(op.getQ());
    Value scores =
        f.reshape(product("bgmqd,bkgd->bgmqk", q, op.getK(), f.b.getF32Type()), {batch, heads, queries, keys});
    scores = f.mul(scores, op.getScale().convertToDouble());
    Value never = f.number(kNever, scores);
    if (Value bias = op.getBias()) {
      Value whole = f.broadcast(bias, scores);
      scores = f.isFloat(bias) ? f.add(scores, f.convert(whole, f.b.getF32Type())) : f.select(whole, scores, never);
    }
    Value visible = visibleKeys({batch, heads, queries, keys});
    return visible ? f.select(visible, scores, never) : scores;
  }

  /// Null: all are. Of the shape of what is selected, so that no kernel writes a mask.
  Value visibleKeys(ArrayRef<int64_t> shape) {
    Value query = f.iota(shape, 2, f.b.getI32Type()), key = f.iota(shape, 3, f.b.getI32Type()), visible;
    auto require = [&](Value condition) { visible = visible ? f.both(visible, condition) : condition; };
    if (op.getMask() == Mask::causal)
      require(f.compare(Predicate::le, key, query));
    if (std::optional<int64_t> window = op.getWindow()) {
      Value distance = f.sub(query, key);
      require(f.isLess(distance, double(*window)));
      if (op.getMask() != Mask::causal)
        require(f.isAbove(distance, -double(*window)));
    }
    return visible;
  }

  /// Probabilities of the keys, and of each row the largest score, the sum of exponentials of the differences from it, and
  /// where rows may see no key, whether this one does, and whether it attends to all keys alike then.
  struct Rows {
    Value p, largest, sum, seesNone, attends;
  };

  Rows writeRows() {
    Value scores = maskedScores(), largest = f.reduceRows(Reduction::max, scores), seesNone, attends;
    if (maySeeNone()) {
      seesNone = isForbidden(largest);
      attends = op.getUniform() ? seesNone : f.both(seesNone, f.isAbove(largest, kNever));
      largest = f.select(seesNone, f.number(0, largest), largest);
    }
    Value power = f.exp(f.sub(scores, f.alongRows(largest, scores))), sum = f.reduceRows(Reduction::sum, power);
    if (seesNone)
      sum = f.select(seesNone, f.number(1, sum), sum);
    Value p = f.mul(power, f.alongRows(f.div(f.number(1, sum), sum), power));
    if (seesNone) {
      Value alike = f.div(f.number(1, sum), f.number(double(keys), sum));
      Value fill = f.select(attends, alike, f.number(0, sum));
      p = f.select(f.alongRows(seesNone, p), f.alongRows(fill, p), p);
    }
    return {p, largest, sum, seesNone, attends};
  }

  void replaceBy(ArrayRef<Value> values) {
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
      result.replaceAllUsesWith(value);
    op->erase();
  }

  OpT op;
  Formula f;
  int64_t batch, queries, heads, keys, groups, members;
};

} // namespace

void xlc::writeAttention(Operation *op) {
  if (auto forward = dyn_cast<AttentionOp>(op))
    return AttentionWriter(forward).writeForward();
  AttentionWriter(cast<AttentionBackwardOp>(op)).writeBackward();
}

void xlc::splitUnseen(Operation *op) {
  if (auto forward = dyn_cast<AttentionOp>(op))
    return AttentionWriter(forward).splitForward();
  AttentionWriter(cast<AttentionBackwardOp>(op)).splitBackward();
}
