// Tables whose rows are split over ranks: lookups by mask, and a cross-entropy that never has all logits in one place.
//
// Rank i owns the rows [i * block, (i + 1) * block); the last ranks may own fewer. An id is looked up by its owner,
// others give zero, and the sum over the ranks is the row. Of the logits a rank has the columns of its rows:
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

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

LocalIds shard::localizeIds(Emitter &emit, Value ids, dist::GroupAttr group, int64_t block) {
  RankedTensorType type = typeOf(ids);
  Value first = emit.binary("graph.mul", emit.index(group),
                            emit.constant(RankedTensorType::get({}, emit.builder.getI64Type()), block));
  first = emit.broadcast(emit.cast(first, type.getElementType()), type.getShape());
  Value local = emit.binary("graph.sub", ids, first), zero = emit.constant(type, 0);
  Value isHere = emit.binary("graph.and", emit.compare(Predicate::ge, local, zero),
                             emit.compare(Predicate::lt, local, emit.constant(type, block)));
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
  Value found = emit.create<GatherOp>(op.getType(), table, local.places, op.getDimension());
  Value isHere = alongIds(emit, local.isHere, op.getType(), op.getDimension());
  return emit.select(isHere, found, emit.constant(op.getType(), 0));
}

Value shard::emitScatter(Emitter &emit, ScatterAddOp op, Value ids, Value updates, const Layout &rows) {
  dist::GroupAttr group = partsGroup(op.getContext(), Layout(), rows, emit.tp);
  RankedTensorType type = localType(op.getType(), rows);
  LocalIds local = localizeIds(emit, ids, group, type.getDimSize(rows.dim));
  Value isHere = alongIds(emit, local.isHere, typeOf(updates), op.getDimension());
  Value own = emit.select(isHere, updates, emit.constant(typeOf(updates), 0));
  return emit.create<ScatterAddOp>(type, local.places, own, op.getDimension());
}

namespace {
/// A rank's columns of the logits. What does not exist of them (the vocabulary's tail) is said by `isThere`.
class Columns {
public:
  Columns(Emitter &emit, Value logits, int64_t classes, const Layout &layout)
      : emit(emit), type(typeOf(logits)), rows(type.getShape().drop_back()), logits(logits),
        group(partsGroup(emit.builder.getContext(), Layout(), layout, emit.tp)), block(type.getShape().back()) {
    if (block * group.size() == classes)
      return;
    auto columns = RankedTensorType::get({block}, emit.builder.getI64Type());
    Value places = emit.create<IotaOp>(columns, 0);
    Value first = emit.binary("graph.mul", emit.index(group), emit.constant(columns.clone(ArrayRef<int64_t>()), block));
    isThere = emit.compare(Predicate::lt, emit.binary("graph.add", places, emit.broadcast(first, {block})),
                           emit.constant(columns, classes));
  }

  /// A value per element, or `absent` where there is no such column.
  Value mask(Value value, double absent) {
    return isThere ? emit.select(emit.broadcast(isThere, type.getShape()), value, emit.constant(typeOf(value), absent))
                   : value;
  }
  Value reduceRows(Reduction kind, Value value) {
    SmallVector<int64_t> last{type.getRank() - 1};
    return emit.create<ReduceOp>(typeOf(value).clone(rows), kind, value, last);
  }
  /// One number per row, for every column.
  Value alongRows(Value perRow) {
    SmallVector<int64_t> shape(rows);
    shape.push_back(1);
    return emit.broadcast(emit.reshape(perRow, shape), type.getShape());
  }

  Emitter &emit;
  RankedTensorType type;
  ArrayRef<int64_t> rows;
  Value logits, isThere;
  dist::GroupAttr group;
  int64_t block;
};

/// Where no label is ignored, every label equals itself.
Value isCounted(Emitter &emit, Value labels, std::optional<int64_t> ignore) {
  return ignore ? emit.compare(Predicate::ne, labels, emit.constant(typeOf(labels), *ignore))
                : emit.compare(Predicate::eq, labels, labels);
}

/// The logit of each row's label where it is here, else zero.
Value pickLabels(Columns &columns, Value logits, Value labels) {
  Emitter &emit = columns.emit;
  LocalIds local = localizeIds(emit, labels, columns.group, columns.block);
  int64_t count = typeOf(labels).getNumElements();
  Value column = emit.cast(emit.reshape(local.places, {count}), emit.builder.getI64Type());
  Value row = emit.create<IotaOp>(typeOf(column), 0);
  Value place =
      emit.binary("graph.add", emit.binary("graph.mul", row, emit.constant(typeOf(row), columns.block)), column);
  Value flat = emit.reshape(logits, {count * columns.block});
  Value picked = emit.reshape(emit.create<GatherOp>(typeOf(flat).clone({count}), flat, place, 0), columns.rows);
  return emit.select(local.isHere, picked, emit.constant(typeOf(picked), 0));
}

Value sumAll(Emitter &emit, Value value) {
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(typeOf(value).getRank()));
  return all.empty() ? value
                     : emit.create<ReduceOp>(typeOf(value).clone(ArrayRef<int64_t>()), Reduction::sum, value, all);
}
} // namespace

SplitLoss shard::emitCrossEntropy(Emitter &emit, CrossEntropyOp op, Value logits, Value labels, const Layout &classes) {
  Type wide = typeOf(op.getLse()).getElementType();
  Columns columns(emit, logits, typeOf(op.getLogits()).getShape().back(), classes);
  SplitLoss loss;
  Value largest = columns.reduceRows(Reduction::max, columns.mask(logits, -std::numeric_limits<double>::infinity()));
  loss.maximum = emit.allReduce(dist::Reduction::max, largest, columns.group);
  Value below = emit.binary("graph.sub", logits, columns.alongRows(loss.maximum));
  Value exponentials = columns.mask(emit.create<ExpOp>(columns.type, below), 0);
  Value own = emit.cast(columns.reduceRows(Reduction::sum, exponentials), wide);
  loss.total = emit.allReduce(dist::Reduction::sum, own, columns.group);
  loss.lse =
      emit.binary("graph.add", emit.cast(loss.maximum, wide), emit.create<LogOp>(typeOf(loss.total), loss.total));
  Value predicted = emit.cast(pickLabels(columns, logits, labels), wide);
  predicted = emit.allReduce(dist::Reduction::sum, predicted, columns.group);
  Value counted = isCounted(emit, labels, op.getIgnoreIndex());
  Value terms = emit.binary("graph.sub", loss.lse, predicted);
  terms = emit.select(counted, terms, emit.constant(typeOf(terms), 0));
  loss.sum = emit.cast(sumAll(emit, terms), typeOf(op.getSum()).getElementType());
  loss.count = sumAll(emit, emit.cast(counted, emit.builder.getI64Type()));
  return loss;
}

Value shard::emitCrossEntropyBackward(Emitter &emit, CrossEntropyBackwardOp op, Value logits, Value labels, Value dsum,
                                      const SplitLoss &loss, const Layout &classes) {
  // First what there is of each row, then one chain over all elements: a single kernel, which keeps nothing between.
  Columns columns(emit, logits, typeOf(op.getLogits()).getShape().back(), classes);
  Type narrow = columns.type.getElementType(), wide = typeOf(loss.total).getElementType();
  Value inverse = columns.alongRows(emit.binary("graph.div", emit.constant(typeOf(loss.total), 1), loss.total));
  LocalIds local = localizeIds(emit, labels, columns.group, columns.block);
  Value label = columns.alongRows(local.places), isHere = columns.alongRows(local.isHere);
  Value counted = columns.alongRows(isCounted(emit, labels, op.getIgnoreIndex()));
  Value maximum = columns.alongRows(loss.maximum), scale = emit.broadcast(dsum, columns.type.getShape());
  Value column = emit.create<IotaOp>(typeOf(label), columns.type.getRank() - 1);
  Value zero = emit.constant(columns.type, 0), one = emit.constant(columns.type, 1);

  Value exponential = emit.create<ExpOp>(columns.type, emit.binary("graph.sub", logits, maximum));
  Value probability = emit.cast(emit.binary("graph.mul", emit.cast(exponential, wide), inverse), narrow);
  Value isLabel = emit.binary("graph.and", emit.compare(Predicate::eq, column, label), isHere);
  Value difference = emit.binary("graph.sub", probability, emit.select(isLabel, one, zero));
  return columns.mask(emit.select(counted, emit.binary("graph.mul", scale, difference), zero), 0);
}
