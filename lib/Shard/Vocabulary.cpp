// Tables whose rows are split over ranks: lookups by mask, and a cross-entropy whose logits are never gathered.
//
// Rank i owns the rows [i * block, (i + 1) * block); the last ranks may own fewer. An id is looked up by its owner, the
// other ranks contribute zero, and the sum over the ranks is the row. A rank has the columns of its rows of the logits:
//
//     maximum   = all_reduce max of each row's largest
//     total     = all_reduce sum of exp(logit - maximum), f64
//     predicted = all_reduce sum of the logit of the label, where it is here
//     loss      = maximum + log(total) - predicted
//
// Columns that do not exist are -inf. Backward keeps maximum and total instead of the log-sum-exp: a probability is
// exp(logit - maximum) / total, as in the unpartitioned program.
#include "Emit.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

LocalIds shard::localizeIds(Emitter &emit, Value ids, dist::GroupAttr group, int64_t block) {
  Value first = emit.firstPlace(group, block);
  first = emit.broadcast(emit.convert(first, typeOf(ids).getElementType()), ids);
  Value local = emit.sub(ids, first), zero = emit.number(0, ids);
  Value isFrom = emit.compare(Predicate::ge, local, zero);
  Value isHere = emit.both(isFrom, emit.isLess(local, double(block)));
  return {isHere, emit.select(isHere, local, zero)};
}

/// `isHere` of ids, for every element of a value that has their dimensions from `dimension` on.
static Value alongIds(Emitter &emit, Value isHere, RankedTensorType type, int64_t dimension) {
  SmallVector<int64_t> shape(type.getRank(), 1);
  for (auto [i, size] : llvm::enumerate(typeOf(isHere).getShape()))
    shape[dimension + i] = size;
  return emit.broadcast(emit.reshape(isHere, shape), type.getShape());
}

Value shard::emitLookup(Emitter &emit, GatherOp op, Value table, Value ids, const Layout &rows) {
  dist::GroupAttr group = partsGroup(op.getContext(), Layout(), rows, emit.tp);
  LocalIds local = localizeIds(emit, ids, group, typeOf(table).getDimSize(rows.dim));
  Value found = emit.gather(table, local.places, op.getDimension());
  Value isHere = alongIds(emit, local.isHere, op.getType(), op.getDimension());
  return emit.select(isHere, found, 0);
}

Value shard::emitScatter(Emitter &emit, ScatterAddOp op, Value ids, Value updates, const Layout &rows) {
  dist::GroupAttr group = partsGroup(op.getContext(), Layout(), rows, emit.tp);
  RankedTensorType type = localType(op.getType(), rows);
  LocalIds local = localizeIds(emit, ids, group, type.getDimSize(rows.dim));
  Value isHere = alongIds(emit, local.isHere, typeOf(updates), op.getDimension());
  Value own = emit.select(isHere, updates, 0);
  return emit.create<ScatterAddOp>(type, local.places, own, op.getDimension());
}

namespace {
/// A rank's columns of the logits. What does not exist of them (the vocabulary's tail) is said by `isThere`.
class Columns {
public:
  Columns(Emitter &emit, Value logits, int64_t classes, const Layout &layout)
      : emit(emit), type(typeOf(logits)), rows(type.getShape().drop_back()), logits(logits),
        group(partsGroup(emit.b.getContext(), Layout(), layout, emit.tp)), block(type.getShape().back()) {
    if (block * group.size() == classes)
      return;
    Value places = emit.iota({block}, 0), first = emit.firstPlace(group, block);
    isThere = emit.isLess(emit.add(places, emit.broadcast(first, ArrayRef{block})), double(classes));
  }

  /// A value per element, or `absent` where there is no such column.
  Value mask(Value value, double absent) {
    return isThere ? emit.select(emit.broadcast(isThere, type.getShape()), value, absent) : value;
  }
  /// One number per row, for every column.
  Value alongRows(Value perRow) { return emit.alongRows(perRow, logits); }

  Emitter &emit;
  RankedTensorType type;
  ArrayRef<int64_t> rows;
  Value logits, isThere;
  dist::GroupAttr group;
  int64_t block;
};

/// Where no label is ignored, every label equals itself.
Value isCounted(Emitter &emit, Value labels, std::optional<int64_t> ignore) {
  return ignore ? emit.compare(Predicate::ne, labels, emit.number(double(*ignore), labels))
                : emit.isEqual(labels, labels);
}

/// The logit of each row's label where it is here, else zero.
Value pickLabels(Columns &columns, Value logits, Value labels) {
  Emitter &emit = columns.emit;
  LocalIds local = localizeIds(emit, labels, columns.group, columns.block);
  int64_t count = typeOf(labels).getNumElements();
  Value column = emit.convert(emit.reshape(local.places, count), emit.b.getI64Type());
  Value row = emit.iota(count, 0);
  Value place = emit.add(emit.mul(row, double(columns.block)), column);
  Value flat = emit.reshape(logits, count * columns.block);
  return emit.select(local.isHere, emit.reshape(emit.gather(flat, place, 0), columns.rows), 0);
}

Value sumAll(Emitter &emit, Value value) {
  return emit.rankOf(value) == 0 ? value : emit.reduceAll(Reduction::sum, value);
}
} // namespace

SplitLoss shard::emitCrossEntropy(Emitter &emit, CrossEntropyOp op, Value logits, Value labels, const Layout &classes) {
  Type wide = typeOf(op.getLse()).getElementType();
  Columns columns(emit, logits, typeOf(op.getLogits()).getShape().back(), classes);
  SplitLoss loss;
  Value largest = emit.reduceRows(Reduction::max, columns.mask(logits, -std::numeric_limits<double>::infinity()));
  loss.maximum = emit.allReduce(dist::Reduction::max, largest, columns.group);
  Value below = emit.sub(logits, columns.alongRows(loss.maximum));
  Value exponentials = columns.mask(emit.exp(below), 0);
  Value own = emit.convert(emit.reduceRows(Reduction::sum, exponentials), wide);
  loss.total = emit.allReduce(dist::Reduction::sum, own, columns.group);
  Value maximum = emit.convert(loss.maximum, wide);
  loss.lse = emit.add(maximum, emit.log(loss.total));
  Value predicted = emit.convert(pickLabels(columns, logits, labels), wide);
  predicted = emit.allReduce(dist::Reduction::sum, predicted, columns.group);
  Value counted = isCounted(emit, labels, op.getIgnoreIndex());
  Value terms = emit.sub(loss.lse, predicted);
  terms = emit.select(counted, terms, 0);
  loss.sum = emit.convert(sumAll(emit, terms), typeOf(op.getSum()).getElementType());
  loss.count = sumAll(emit, emit.convert(counted, emit.b.getI64Type()));
  return loss;
}

Value shard::emitCrossEntropyBackward(Emitter &emit, CrossEntropyBackwardOp op, Value logits, Value labels, Value dsum,
                                      const SplitLoss &loss, const Layout &classes) {
  // First what there is of each row, then one chain over all elements: a single kernel, which keeps nothing between.
  Columns columns(emit, logits, typeOf(op.getLogits()).getShape().back(), classes);
  Type narrow = columns.type.getElementType(), wide = typeOf(loss.total).getElementType();
  Value inverse = columns.alongRows(emit.div(emit.number(1, loss.total), loss.total));
  LocalIds local = localizeIds(emit, labels, columns.group, columns.block);
  Value label = columns.alongRows(local.places), isHere = columns.alongRows(local.isHere);
  Value counted = columns.alongRows(isCounted(emit, labels, op.getIgnoreIndex()));
  Value maximum = columns.alongRows(loss.maximum), scale = emit.broadcast(dsum, columns.type.getShape());
  Value column = emit.iota(typeOf(label).getShape(), emit.rankOf(label) - 1, typeOf(label).getElementType());
  Value zero = emit.number(0, columns.type), one = emit.number(1, columns.type);

  Value exponential = emit.exp(emit.sub(logits, maximum));
  Value probability = emit.convert(emit.mul(emit.convert(exponential, wide), inverse), narrow);
  Value isLabel = emit.both(emit.isEqual(column, label), isHere);
  Value difference = emit.sub(probability, emit.select(isLabel, one, zero));
  return columns.mask(emit.select(counted, emit.mul(scale, difference), zero), 0);
}
