// How a rank of a timeline starts, and what it ends a step with.
#include "Ranks.h"

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
    for (auto [member, offset] : llvm::zip(bucketOp.getMembers(), bucketOp.getOffsets()))
      if (const Model::Parameter *parameter = model.findParameter(cast<StringAttr>(member).getValue()))
        for (auto [k, element] : llvm::enumerate(source.parameter(*parameter).elements))
          whole.set(offset + k, element);
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

/// State number `state` of a parameter, or past the last state the parameter itself, as a rank and those it shares
/// shards with hold it.
template <class E>
static LogicalResult collectPieces(dist::MeshAttr mesh, std::vector<Rank<E>> &ranks, Bucket<E> &bucket,
                                   const Model::Parameter &parameter, int64_t offset, size_t state, Values<E> &values) {
  bool isParam = state == parameter.states.size();
  bool isSharded = Bucket<E>::isSharded(isParam ? bucket.op.getParams() : bucket.op.getStates());
  Tensor<E> value(parameter.shape);
  SmallVector<int64_t> holders = dist::GroupAttr::shards(mesh).members(mesh, bucket.rank);
  for (int64_t k = 0; k < int64_t(value.elements.size()); ++k) {
    int64_t i = offset + k, slice = i / bucket.sliceSize();
    Bucket<E> &holder = isSharded ? ranks[holders[slice]].buckets.find(bucket.op.getSymNameAttr())->second : bucket;
    const Cells<E> &whole = isParam ? holder.params : holder.states[state];
    const Cells<E> &cells = isParam && isSharded ? holder.paramShard : whole;
    int64_t place = isSharded ? i % bucket.sliceSize() : i;
    if (!cells.isSet[place])
      return bucket.op.emitOpError() << "at the end of the step rank " << holder.rank << " does not hold element " << k
                                     << " of '" << parameter.name << "'";
    value.elements[k] = cells.elements[place];
  }
  values[isParam ? parameter.name : parameter.states[state]] = std::move(value);
  return success();
}

template <class E>
static LogicalResult collect(dist::MeshAttr mesh, std::vector<Rank<E>> &ranks, const Model &model, Rank<E> &rank,
                             Values<E> &values) {
  for (StringRef name : {kLoss, kNorm})
    if (auto it = rank.scalars.find(name.str()); it != rank.scalars.end())
      values.insert(*it);
  for (auto &[symbol, bucket] : rank.buckets)
    for (auto [member, offset] : llvm::zip(bucket.op.getMembers(), bucket.op.getOffsets()))
      if (const Model::Parameter *parameter = model.findParameter(cast<StringAttr>(member).getValue()))
        for (size_t state = 0; state <= parameter->states.size(); ++state)
          if (failed(collectPieces(mesh, ranks, bucket, *parameter, offset, state, values)))
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
