// Gathers, sums and updates of buckets: elements move between the ranks' cells. A missing element is an error of its
// reader.
#include "BucketActions.h"
#include "../Ops/Optimizer.h"
#include "Pieces.h"
#include "xlc/Runtime/Narrow.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

template <class E> static Bucket<E> &find(Rank<E> &rank, FlatSymbolRefAttr name) {
  return rank.buckets.find(name.getAttr())->second;
}

template <class E> static LogicalResult gather(World<E> &world, sched::CollectiveOp gather) {
  for (Rank<E> &rank : world.ranksOf(gather)) {
    Bucket<E> &bucket = find(rank, gather.getBucketAttr());
    for (auto [slice, peer] : llvm::enumerate(dist::GroupAttr::shards(world.mesh).members(world.mesh, rank.index))) {
      Bucket<E> &other = find(world.ranks[peer], gather.getBucketAttr());
      Piece<E> from = other.ownParams(), to = bucket.slice(bucket.params, slice);
      if (StringRef member = other.findUnset(from); !member.empty())
        return missing(gather, world.ranks[peer], "parameter", member, "is not written yet");
      for (int64_t k = 0; k < from.count; ++k)
        to.cells->set(to.first + k, from.cells->elements[from.first + k]);
    }
  }
  return success();
}

template <class E> LogicalResult interpret::act(World<E> &world, sched::ReleaseOp release) {
  for (Rank<E> &rank : world.ranksOf(release)) {
    Bucket<E> &bucket = find(rank, release.getBucketAttr());
    bucket.params.clear(0, bucket.elements());
  }
  return success();
}

/// Sums a piece over `members` in rank order.
template <class E>
static LogicalResult sum(World<E> &world, Operation *action, FlatSymbolRefAttr symbol, ArrayRef<int64_t> members,
                         llvm::function_ref<Piece<E>(Bucket<E> &)> pieceOf, std::vector<E> &total) {
  for (int64_t r : members) {
    Bucket<E> &bucket = find(world.ranks[r], symbol);
    Piece<E> piece = pieceOf(bucket);
    if (StringRef member = bucket.findUnset(piece); !member.empty())
      return missing(action, world.ranks[r], "gradient", member, "is not written yet");
    std::vector<E> given(piece.cells->elements.begin() + piece.first,
                         piece.cells->elements.begin() + piece.first + piece.count);
    roundTo<E>(bucket.op.getTypeOnWire(), given);
    total.resize(piece.count);
    for (int64_t k = 0; k < piece.count; ++k)
      total[k] += given[k];
    if (bucket.op.getWireType() && r == members.back())
      roundTo<E>(*bucket.op.getWireType(), total);
  }
  return success();
}

/// Rounds sums once to what a bucket keeps its gradients in.
template <class E> static void roundFor(Bucket<E> &bucket, std::vector<E> &sums) {
  roundTo<E>(bucket.op.getTypeOfGradients(), sums);
}

template <class E> static LogicalResult scatter(World<E> &world, sched::CollectiveOp scatter) {
  std::vector<std::vector<E>> totals(world.ranks.size());
  for (Rank<E> &rank : world.ranksOf(scatter))
    if (failed(sum<E>(
            world, scatter, scatter.getBucketAttr(),
            dist::GroupAttr::shards(world.mesh).members(world.mesh, rank.index),
            [&](Bucket<E> &bucket) { return bucket.slice(bucket.grads, world.mesh.shardOf(rank.index)); },
            totals[rank.index])))
      return failure();
  for (Rank<E> &rank : world.ranksOf(scatter)) {
    Bucket<E> &bucket = find(rank, scatter.getBucketAttr());
    Piece<E> own = bucket.ownGrads();
    bool adds = scatter.getAccumulate() && Bucket<E>::isSharded(bucket.op.getGrads());
    if (StringRef member = bucket.findUnset(own); adds && !member.empty())
      return missing(scatter, rank, "gradient", member, "is not reduced yet");
    for (auto [k, element] : llvm::enumerate(totals[rank.index]))
      if (adds)
        element = own.cells->elements[own.first + k] + element;
    roundFor(bucket, totals[rank.index]);
    bucket.grads.clear(0, bucket.elements()); // the other slices are other ranks' now
    for (auto [k, element] : llvm::enumerate(totals[rank.index]))
      own.cells->set(own.first + k, element);
  }
  return success();
}

template <class E> static LogicalResult reduce(World<E> &world, ArrayRef<sched::CollectiveOp> reduces) {
  std::vector<std::vector<E>> totals(world.ranks.size());
  auto pieceOf = [&](Bucket<E> &bucket) {
    bool isShard = sched::CollectiveOp(reduces.front()).getExtent() == sched::Extent::shard;
    return isShard ? bucket.ownGrads() : bucket.whole(bucket.grads);
  };
  for (sched::CollectiveOp reduce : reduces)
    for (Rank<E> &rank : world.ranksOf(reduce))
      if (failed(sum<E>(world, reduce, reduce.getBucketAttr(), reduce.getGroupAttr().members(world.mesh, rank.index),
                        pieceOf, totals[rank.index])))
        return failure();
  for (sched::CollectiveOp reduce : reduces)
    for (Rank<E> &rank : world.ranksOf(reduce)) {
      Bucket<E> &bucket = find(rank, reduce.getBucketAttr());
      Piece<E> piece = pieceOf(bucket);
      roundFor(bucket, totals[rank.index]);
      for (auto [k, element] : llvm::enumerate(totals[rank.index]))
        piece.cells->set(piece.first + k, element);
    }
  return success();
}

template <class E> LogicalResult interpret::act(World<E> &world, ArrayRef<sched::CollectiveOp> collectives) {
  sched::CollectiveOp first = collectives.front();
  if (first.getKind() == dist::CollectiveKind::all_reduce)
    return reduce(world, collectives);
  return first.getKind() == dist::CollectiveKind::all_gather ? gather(world, first) : scatter(world, first);
}

template <class E> LogicalResult interpret::act(World<E> &world, sched::NormOp norm) {
  for (Rank<E> &rank : world.ranksOf(norm)) {
    Bucket<E> &bucket = find(rank, norm.getBucketAttr());
    Piece<E> piece = bucket.ownGrads();
    if (StringRef member = bucket.findUnset(piece); !member.empty())
      return missing(norm, rank, "gradient", member, "is not reduced yet");
    ProductSum<E> squares;
    for (int64_t k = 0; k < piece.count; ++k)
      squares.add(piece.cells->elements[piece.first + k], piece.cells->elements[piece.first + k]);
    Datum<E> term = Tensor<E>({}, squares.get() / fromInteger<E>(norm.getCopies()));
    auto it = rank.scalars.find(sched::kSumSquares.str());
    if (norm.getAccumulate() && it == rank.scalars.end())
      return missing(norm, rank, "scalar", sched::kSumSquares, "is not written yet");
    if (norm.getAccumulate())
      addTo<E>(it->second, term);
    else
      rank.scalars[sched::kSumSquares.str()] = term;
  }
  return success();
}

template <class E> LogicalResult interpret::act(World<E> &world, sched::ZeroScalarsOp zero) {
  auto scalars = zero->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>("scalars");
  bool isInteger = !scalars || cast<RankedTensorType>(scalars.getArgumentTypes()[1]).getElementType().isInteger();
  for (Rank<E> &rank : world.ranksOf(zero))
    for (Attribute name : zero.getScalars()) {
      bool isNumber = isInteger && cast<StringAttr>(name).getValue() == sched::kLossCount;
      Shape shape;
      if (RankedTensorType sum = zero->getParentOfType<sched::TimelineOp>().findSum(cast<StringAttr>(name).getValue()))
        isNumber = sum.getElementType().isInteger(), shape = Shape(sum.getShape());
      rank.scalars[cast<StringAttr>(name).str()] = isNumber ? Datum<E>(Integers(shape)) : Datum<E>(Tensor<E>(shape));
    }
  return success();
}

template <class E> LogicalResult interpret::act(World<E> &world, ArrayRef<sched::AllReduceScalarsOp> reduces) {
  for (Attribute attribute : sched::AllReduceScalarsOp(reduces.front()).getScalars()) {
    std::string name = cast<StringAttr>(attribute).str();
    std::vector<Datum<E>> terms(world.ranks.size());
    for (sched::AllReduceScalarsOp reduce : reduces)
      for (Rank<E> &rank : world.ranksOf(reduce)) {
        auto it = rank.scalars.find(name);
        if (it == rank.scalars.end())
          return missing(reduce, rank, "scalar", name, "is not written yet");
        terms[rank.index] = it->second;
      }
    for (sched::AllReduceScalarsOp reduce : reduces)
      for (Rank<E> &rank : world.ranksOf(reduce)) {
        SmallVector<int64_t> members = reduce.getGroup().members(world.mesh, rank.index);
        Datum<E> total = terms[members.front()];
        for (int64_t member : ArrayRef(members).drop_front())
          addTo<E>(total, terms[member]);
        rank.scalars[name] = std::move(total);
      }
  }
  return success();
}

/// A random number for each element of a piece of a bucket, by its place in the whole parameter; that which rounds to
/// nearest for padding. Empty where the bucket is rounded to nearest.
template <class E>
static std::vector<uint32_t> drawBits(dist::MeshAttr mesh, int64_t rank, Bucket<E> &bucket, const Piece<E> &piece,
                                      const runtime::StepClock &clock) {
  if (!bucket.op.getStochastic())
    return {};
  std::vector<uint32_t> bits(piece.count, runtime::kNearestBits);
  uint64_t key = runtime::keyOfStep(clock.seed, clock.step);
  for (auto [i, member] : llvm::enumerate(bucket.op.getMembers().template getAsRange<StringAttr>())) {
    uint64_t subsequence = runtime::hashName(member.getValue());
    int64_t offset = bucket.op.getOffsets()[i] - piece.logical;
    auto draw = [&](int64_t inPiece, int64_t inWhole) {
      if (int64_t k = offset + inPiece; k >= 0 && k < piece.count)
        bits[k] = runtime::drawWord(inWhole, subsequence, key);
    };
    if (dist::LayoutAttr layout = sched::getLayout(bucket.op, i))
      forEachOfPiece(layout, layout.getGroup().indexOf(mesh, rank), draw);
    else
      for (int64_t k = 0; k < bucket.op.getSizes()[i]; ++k)
        draw(k, k);
  }
  return bits;
}

/// Rounds what an update gives, by draw `which` of `bits`, or to nearest where there are none.
template <class E>
static void roundUpdated(Type element, ArrayRef<uint32_t> bits, int64_t which, MutableArrayRef<E> values) {
  std::optional<Narrow> narrow = findNarrow(element);
  if (bits.empty() || !narrow)
    return roundTo<E>(element, values);
  for (auto [value, own] : llvm::zip_equal(values, bits))
    value = toNeighbour<E>(value, *narrow, runtime::drawOf(own, which));
}

template <class E>
LogicalResult interpret::act(World<E> &world, sched::UpdateOp update, const Model &model,
                             const runtime::StepClock &clock, const Functions<E> &functions) {
  for (Rank<E> &rank : world.ranksOf(update)) {
    Bucket<E> &bucket = find(rank, update.getBucketAttr());
    auto scale = rank.scalars.find("@scale");
    if (scale == rank.scalars.end())
      return missing(update, rank, "scalar", "@scale", "is not written yet");
    int64_t group = bucket.op.getGroup();
    if (group < 0 || group >= int64_t(model.groups.size()))
      return update.emitOpError() << "updates bucket '" << bucket.op.getSymName() << "' of optimizer group " << group
                                  << ", but the number of optimizer groups is " << model.groups.size();
    const graph::OptimizerGroup &own = model.groups[group];
    Tensor<E> numbers = groupNumbers<E>(own, model.schedule, clock.applied);
    numbers.elements[runtime::indexInGroup(runtime::StepNumber::GradientFactor)] =
        std::get<Tensor<E>>(scale->second).elements[0];
    bool isSharded = Bucket<E>::isSharded(bucket.op.getStates());
    Piece<E> params = isSharded ? bucket.ownParams() : bucket.whole(bucket.params);
    Piece<E> grads = isSharded ? bucket.ownGrads() : bucket.whole(bucket.grads);
    if (StringRef member = bucket.findUnset(grads); !member.empty())
      return missing(update, rank, "gradient", member, "is not reduced yet");
    if (StringRef member = bucket.findUnset(params); !member.empty())
      return missing(update, rank, "parameter", member, "is not written yet");
    UpdateRule<E> rule(own, update.getContext(), functions);
    if (isSharded) // what was gathered before is out of date, but for this rank's slice
      for (int64_t slice = 0; slice < bucket.shards; ++slice)
        if (Bucket<E>::isSharded(bucket.op.getParams()) || slice != bucket.sliceIndex())
          bucket.params.clear(slice * bucket.sliceSize(), bucket.sliceSize());
    SmallVector<E *> states;
    for (Cells<E> &state : bucket.states)
      states.push_back(state.elements.data());
    E *read = &params.cells->elements[params.first], *moved = bucket.hasMaster() ? bucket.master.elements.data() : read;
    rule(moved, &grads.cells->elements[grads.first], states, params.count, numbers);
    std::vector<uint32_t> bits = drawBits(world.mesh, rank.index, bucket, params, clock);
    roundUpdated<E>(bucket.op.getTypeOfUpdated(), bits, 0, MutableArrayRef(moved, params.count));
    for (auto [i, name, state] : llvm::enumerate(own.getStateNames(), states))
      roundUpdated<E>(bucket.op.getTypeOfState(name), bits, 1 + i, MutableArrayRef(state, params.count));
    if (bucket.hasMaster())
      std::copy_n(moved, params.count, read);
    roundTo<E>(bucket.op.getTypeOfParameters(), MutableArrayRef(read, params.count));
  }
  return success();
}

#define XLC_INSTANTIATE_ACTIONS(E)                                                                                     \
  template LogicalResult interpret::act(World<E> &, sched::ReleaseOp);                                                 \
  template LogicalResult interpret::act(World<E> &, sched::NormOp);                                                    \
  template LogicalResult interpret::act(World<E> &, sched::ZeroScalarsOp);                                             \
  template LogicalResult interpret::act(World<E> &, ArrayRef<sched::CollectiveOp>);                                    \
  template LogicalResult interpret::act(World<E> &, ArrayRef<sched::AllReduceScalarsOp>);                              \
  template LogicalResult interpret::act(World<E> &, sched::UpdateOp, const Model &, const runtime::StepClock &,        \
                                        const Functions<E> &);
XLC_INSTANTIATE_ACTIONS(double)
XLC_INSTANTIATE_ACTIONS(float)
XLC_INSTANTIATE_ACTIONS(Field)
