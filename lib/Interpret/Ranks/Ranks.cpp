// How a rank of a timeline starts, and what it ends a step with.
#include "Ranks.h"
#include "Pieces.h"
#include "xlc/Dialect/Graph/Signature.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

template <class E>
Rank<E> interpret::makeRank(sched::TimelineOp op, int64_t r, const Model &model, const Source<E> &source) {
  Rank<E> rank;
  rank.index = r;
  for (auto bucketOp : op->getParentOfType<ModuleOp>().template getOps<sched::BucketOp>()) {
    if (!sched::isOnStage(bucketOp, op.getStage()))
      continue;
    const Model::Parameter *first = model.findParameter(cast<StringAttr>(bucketOp.getMembers()[0]).getValue());
    Bucket<E> bucket(bucketOp, r, op.getMesh(), first ? first->states.size() : 0);
    Cells<E> whole(bucket.elements());
    for (auto [index, member, offset] : llvm::enumerate(bucketOp.getMembers(), bucketOp.getOffsets()))
      if (const Model::Parameter *parameter = model.findParameter(cast<StringAttr>(member).getValue())) {
        dist::LayoutAttr layout = sched::getLayout(bucketOp, index);
        int64_t piece = layout ? layout.getGroup().indexOf(op.getMesh(), r) : 0;
        for (auto [k, element] : llvm::enumerate(pieceOf(source.parameter(*parameter), layout, piece).elements))
          whole.set(offset + k, element);
      }
    if (bucket.hasMaster()) {
      bool isSlice = Bucket<E>::isSharded(bucketOp.getStates());
      Piece<E> own = isSlice ? bucket.slice(whole, bucket.sliceIndex()) : bucket.whole(whole);
      for (int64_t k = 0; k < own.count; ++k)
        bucket.master.set(k, whole.elements[own.first + k]);
    }
    if (first && !first->states.empty() && graph::isAverage(first->states.back())) {
      Cells<E> &average = bucket.states.back();
      int64_t begin = Bucket<E>::isSharded(bucketOp.getStates()) ? bucket.sliceIndex() * bucket.sliceSize() : 0;
      std::copy_n(whole.elements.begin() + begin, average.elements.size(), average.elements.begin());
    }
    roundTo<E>(bucketOp.getTypeOfParameters(), whole.elements);
    if (Bucket<E>::isSharded(bucketOp.getParams())) {
      Piece<E> slice = bucket.slice(whole, bucket.sliceIndex());
      for (int64_t k = 0; k < slice.count; ++k)
        bucket.paramShard.set(k, whole.elements[slice.first + k]);
    } else {
      bucket.params = std::move(whole);
    }
    for (Cells<E> &state : bucket.states)
      state.isSet.assign(state.isSet.size(), true);
    rank.buckets.insert({bucketOp.getSymNameAttr(), std::move(bucket)});
  }
  return rank;
}

namespace {

/// Member `index` of a bucket; its state number `state`, past the last state the parameter itself, then its master.
struct Item {
  sched::BucketOp bucket;
  size_t index;
  const Model::Parameter &parameter;
  size_t state;

  bool isParam() const { return state == parameter.states.size(); }
  bool isMaster() const { return state > parameter.states.size(); }
  std::string getName() const {
    return isMaster() ? parameter.name + kMaster.str() : isParam() ? parameter.name : parameter.states[state];
  }
};

} // namespace

/// A rank's piece of the item, as the rank and those it shares shards with hold it.
template <class E>
static FailureOr<Tensor<E>> readPiece(dist::MeshAttr mesh, std::vector<Rank<E>> &ranks, int64_t rank, Item item) {
  bool isSharded = Bucket<E>::isSharded(item.isParam() ? item.bucket.getParams() : item.bucket.getStates());
  dist::LayoutAttr layout = sched::getLayout(item.bucket, item.index);
  Tensor<E> value(layout ? Shape(layout.localShape()) : item.parameter.shape);
  SmallVector<int64_t> holders = dist::GroupAttr::shards(mesh).members(mesh, rank);
  auto bucketOf = [&](int64_t r) -> Bucket<E> & { return ranks[r].buckets.find(item.bucket.getSymNameAttr())->second; };
  int64_t sliceSize = bucketOf(rank).sliceSize();
  for (int64_t k = 0; k < int64_t(value.elements.size()); ++k) {
    int64_t i = item.bucket.getOffsets()[item.index] + k;
    Bucket<E> &holder = bucketOf(isSharded ? holders[i / sliceSize] : rank);
    const Cells<E> &whole = item.isParam()    ? holder.params
                            : item.isMaster() ? holder.master
                                              : holder.states[item.state];
    const Cells<E> &cells = item.isParam() && isSharded ? holder.paramShard : whole;
    int64_t place = isSharded ? i % sliceSize : i;
    if (!cells.isSet[place])
      return LogicalResult(item.bucket.emitOpError()
                           << "is incomplete at the end of the step: rank " << holder.rank << " does not hold element "
                           << k << " of '" << item.parameter.name << "'");
    value.elements[k] = cells.elements[place];
  }
  return value;
}

/// The whole of the item: the rank's own piece amid those of its tensor-parallel group.
template <class E>
static LogicalResult collectPieces(dist::MeshAttr mesh, std::vector<Rank<E>> &ranks, int64_t rank, Item item,
                                   Values<E> &values) {
  dist::LayoutAttr layout = sched::getLayout(item.bucket, item.index);
  SmallVector<int64_t> owners;
  for (int64_t t = 0; layout && t < mesh.getTp(); ++t)
    owners.push_back(mesh.rankOf(mesh.ppOf(rank), mesh.dpOf(rank), t));
  owners.push_back(rank); // last: it is this rank's piece that is compared
  Tensor<E> whole(item.parameter.shape);
  for (int64_t owner : owners) {
    FailureOr<Tensor<E>> piece = readPiece(mesh, ranks, owner, item);
    if (failed(piece))
      return failure();
    placePiece(whole, *piece, layout, layout ? layout.getGroup().indexOf(mesh, owner) : 0);
  }
  values[item.getName()] = std::move(whole);
  return success();
}

template <class E>
static LogicalResult collect(dist::MeshAttr mesh, std::vector<Rank<E>> &ranks, const Model &model, Rank<E> &rank,
                             Values<E> &values) {
  for (StringRef name : {kLoss, kNorm})
    if (auto it = rank.scalars.find(name.str()); it != rank.scalars.end())
      values.insert(*it);
  for (auto &[symbol, bucket] : rank.buckets)
    for (auto [index, member] : llvm::enumerate(bucket.op.getMembers()))
      if (const Model::Parameter *parameter = model.findParameter(cast<StringAttr>(member).getValue()))
        for (size_t state = 0; state <= parameter->states.size() + bucket.hasMaster(); ++state)
          if (failed(collectPieces(mesh, ranks, rank.index, Item{bucket.op, index, *parameter, state}, values)))
            return failure();
  return success();
}

template <class E>
LogicalResult interpret::collectValues(dist::MeshAttr mesh, std::vector<Rank<E>> &ranks, const Model &model,
                                       std::vector<Values<E>> &values) {
  values.clear();
  for (Rank<E> &rank : ranks)
    if (failed(collect(mesh, ranks, model, rank, values.emplace_back())))
      return failure();
  return success();
}

template Rank<double> interpret::makeRank(sched::TimelineOp, int64_t, const Model &, const Source<double> &);
template LogicalResult interpret::collectValues(dist::MeshAttr, std::vector<Rank<double>> &, const Model &,
                                                std::vector<Values<double>> &);
template Rank<float> interpret::makeRank(sched::TimelineOp, int64_t, const Model &, const Source<float> &);
template LogicalResult interpret::collectValues(dist::MeshAttr, std::vector<Rank<float>> &, const Model &,
                                                std::vector<Values<float>> &);
template Rank<Field> interpret::makeRank(sched::TimelineOp, int64_t, const Model &, const Source<Field> &);
template LogicalResult interpret::collectValues(dist::MeshAttr, std::vector<Rank<Field>> &, const Model &,
                                                std::vector<Values<Field>> &);
