// Runs a `sched` timeline on all ranks in one process.
//
// All ranks share the timeline, so they run in lockstep: each action is done for every rank before
// the next one, and a collective moves elements between the ranks' buckets.
#include "Optimizer.h"
#include "Partitioned.h"
#include "Ranks.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

template <class E> class Timeline : public Runner<E> {
public:
  Timeline(sched::TimelineOp op, const Model &model, const Source<E> &source, const Options &options)
      : op(op), model(model), source(source), options(options), functions(options.seed),
        symbols(op->getParentOfType<ModuleOp>()) {
    for (int64_t r = 0; r < op.getMesh().getDp(); ++r)
      ranks.push_back(makeRank<E>(op, r, model, source));
  }

  LogicalResult step(int64_t t, std::vector<Values<E>> &values) override {
    now = t;
    if (failed(checkBuckets()))
      return failure();
    for (Rank<E> &rank : ranks) {
      rank.scalars.clear();
      for (auto &[name, bucket] : rank.buckets) {
        bucket.grads.clear(0, bucket.elements());
        bucket.gradShard.clear(0, bucket.sliceSize());
      }
    }
    for (Operation &action : op.getBody().front())
      if (failed(run(action)))
        return failure();
    return collectValues<E>(ranks, model, values);
  }

private:
  LogicalResult run(Operation &action);
  LogicalResult checkBuckets();
  Bucket<E> &find(Rank<E> &rank, FlatSymbolRefAttr name) { return rank.buckets.find(name.getAttr())->second; }
  LogicalResult act(sched::LoadOp);
  LogicalResult act(sched::RunOp);
  LogicalResult act(sched::AllGatherOp);
  LogicalResult act(sched::ReleaseOp);
  LogicalResult act(sched::NormOp);
  LogicalResult act(sched::ReduceScatterOp);
  LogicalResult act(sched::AllReduceOp);
  LogicalResult act(sched::AllReduceScalarsOp);
  LogicalResult act(sched::ScalarsOp);
  LogicalResult act(sched::UpdateOp);

  LogicalResult gatherArguments(sched::RunOp, func::FuncOp, Rank<E> &, SmallVectorImpl<Datum<E>> &);
  LogicalResult store(sched::RunOp, Rank<E> &, StringRef name, bool accumulate, Datum<E> value);
  LogicalResult storeGradient(sched::RunOp, Rank<E> &, StringRef name, bool accumulate, const Tensor<E> &value);
  LogicalResult sum(Operation *action, FlatSymbolRefAttr bucket, ArrayRef<int64_t> members,
                    llvm::function_ref<Piece<E>(Bucket<E> &)> pieceOf, std::vector<E> &total);
  std::pair<Bucket<E> *, int64_t> findMember(Rank<E> &rank, StringRef name);
  /// The ranks that share shards with rank r, in the order of their slices.
  SmallVector<int64_t> shardGroup(int64_t r) const {
    int64_t shards = sched::TimelineOp(op).getMesh().getShards();
    return llvm::to_vector(llvm::seq<int64_t>(r / shards * shards, r / shards * shards + shards));
  }
  LogicalResult missing(Operation *action, const Rank<E> &rank, StringRef what, StringRef member, StringRef why) {
    return action->emitOpError() << "rank " << rank.index << " reads " << what << " '" << member << "', which " << why;
  }

  sched::TimelineOp op;
  const Model &model;
  Source<E> source;
  Options options;
  Functions<E> functions;
  SymbolTable symbols;
  std::vector<Rank<E>> ranks;
  int64_t now = 0;
};

/// Every bucket that an action names is there.
template <class E> LogicalResult Timeline<E>::checkBuckets() {
  for (Operation &action : op.getBody().front())
    if (auto name = action.getAttrOfType<FlatSymbolRefAttr>("bucket"))
      if (!symbols.lookup<sched::BucketOp>(name.getValue()))
        return action.emitOpError() << "names bucket '" << name.getValue() << "', which is not there";
  return success();
}

template <class E> LogicalResult Timeline<E>::run(Operation &action) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&action)
      .Case<sched::LoadOp, sched::RunOp, sched::AllGatherOp, sched::ReleaseOp, sched::NormOp, sched::ReduceScatterOp,
            sched::AllReduceOp, sched::AllReduceScalarsOp, sched::ScalarsOp, sched::UpdateOp>(
          [&](auto known) { return act(known); })
      .Default([](Operation *other) { return other->emitError() << "the interpreter does not know this action"; });
}

template <class E> LogicalResult Timeline<E>::act(sched::LoadOp load) {
  Cut cut{op.getMesh().getDp(), int64_t(op.getMicroBatches())};
  for (Rank<E> &rank : ranks)
    for (auto [name, value] : llvm::zip(load.getInputs(), load.getValues())) {
      const Model::Input *input = model.findInput(cast<StringAttr>(name).getValue());
      if (!input)
        return load.emitOpError() << "the model has no input " << name;
      rank.activations[value] = source.rows(*input, now, cut.firstRow(*input, rank.index, load.getMicroBatch()));
    }
  return success();
}

template <class E> std::pair<Bucket<E> *, int64_t> Timeline<E>::findMember(Rank<E> &rank, StringRef name) {
  for (auto &[symbol, bucket] : rank.buckets)
    for (auto [i, member] : llvm::enumerate(bucket.op.getMembers()))
      if (cast<StringAttr>(member).getValue() == name)
        return {&bucket, i};
  return {nullptr, 0};
}

template <class E>
LogicalResult Timeline<E>::gatherArguments(sched::RunOp run, func::FuncOp function, Rank<E> &rank,
                                           SmallVectorImpl<Datum<E>> &arguments) {
  for (Value value : run.getValues())
    arguments.push_back(rank.activations.find(value)->second);
  for (Attribute param : run.getParams()) {
    StringRef name = cast<StringAttr>(param).getValue();
    auto [bucket, member] = findMember(rank, name);
    if (!bucket || arguments.size() >= function.getNumArguments())
      return run.emitOpError() << "has no place for parameter '" << name << "'";
    int64_t offset = bucket->op.getOffsets()[member], size = bucket->op.getSizes()[member];
    if (!bucket->findUnset({&bucket->params, offset, offset, size}).empty())
      return missing(run, rank, "parameter", name, "is not gathered");
    Tensor<E> value(cast<RankedTensorType>(function.getArgumentTypes()[arguments.size()]).getShape());
    std::copy_n(bucket->params.elements.begin() + offset, value.elements.size(), value.elements.begin());
    arguments.push_back(std::move(value));
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::RunOp run) {
  auto function = symbols.lookup<func::FuncOp>(run.getFunction());
  if (!function)
    return run.emitOpError("runs a function that is not there");
  size_t outs = run.getOuts().size();
  for (Rank<E> &rank : ranks) {
    SmallVector<Datum<E>> arguments, results;
    if (failed(gatherArguments(run, function, rank, arguments)) ||
        failed(evaluate<E>(function, arguments, options, results)))
      return failure();
    if (results.size() != outs + run.getStores().size())
      return run.emitOpError() << "takes " << outs + run.getStores().size() << " results of a function of "
                               << results.size();
    for (auto [value, result] : llvm::zip(run.getOuts(), results))
      rank.activations[value] = std::move(result);
    for (auto [i, name, accumulate] : llvm::enumerate(run.getStores(), run.getAccumulate()))
      if (failed(store(run, rank, cast<StringAttr>(name).getValue(), accumulate, std::move(results[outs + i]))))
        return failure();
  }
  return success();
}

template <class E>
LogicalResult Timeline<E>::store(sched::RunOp run, Rank<E> &rank, StringRef name, bool accumulate, Datum<E> value) {
  if (!name.starts_with("@"))
    return storeGradient(run, rank, name, accumulate, std::get<Tensor<E>>(value));
  auto it = rank.scalars.find(name.str());
  if (accumulate && it == rank.scalars.end())
    return missing(run, rank, "scalar", name, "is not written yet");
  if (accumulate)
    addTo<E>(it->second, value);
  else
    rank.scalars[name.str()] = std::move(value);
  return success();
}

template <class E>
LogicalResult Timeline<E>::storeGradient(sched::RunOp run, Rank<E> &rank, StringRef name, bool accumulate,
                                         const Tensor<E> &value) {
  auto [bucket, member] = findMember(rank, name);
  if (!bucket || bucket->op.getSizes()[member] != int64_t(value.elements.size()))
    return run.emitOpError() << "has no place for the gradient of '" << name << "'";
  int64_t offset = bucket->op.getOffsets()[member];
  if (int64_t(bucket->op.getGroup()) == sched::kBufferGroup) {
    for (auto [k, element] : llvm::enumerate(value.elements))
      bucket->params.set(offset + k, element);
    return success();
  }
  if (accumulate && !bucket->findUnset({&bucket->grads, offset, offset, int64_t(value.elements.size())}).empty())
    return missing(run, rank, "gradient", name, "is not written yet");
  for (auto [k, element] : llvm::enumerate(value.elements))
    bucket->grads.set(offset + k, accumulate ? bucket->grads.elements[offset + k] + element : element);
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::AllGatherOp gather) {
  for (Rank<E> &rank : ranks) {
    Bucket<E> &bucket = find(rank, gather.getBucketAttr());
    for (auto [slice, peer] : llvm::enumerate(shardGroup(rank.index))) {
      Bucket<E> &other = find(ranks[peer], gather.getBucketAttr());
      Piece<E> from = other.ownParams(), to = bucket.slice(bucket.params, slice);
      if (StringRef member = other.findUnset(from); !member.empty())
        return missing(gather, ranks[peer], "parameter", member, "is not there");
      for (int64_t k = 0; k < from.count; ++k)
        to.cells->set(to.first + k, from.cells->elements[from.first + k]);
    }
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::ReleaseOp release) {
  for (Rank<E> &rank : ranks) {
    Bucket<E> &bucket = find(rank, release.getBucketAttr());
    bucket.params.clear(0, bucket.elements());
  }
  return success();
}

/// Sums a piece over `members` in rank order.
template <class E>
LogicalResult Timeline<E>::sum(Operation *action, FlatSymbolRefAttr symbol, ArrayRef<int64_t> members,
                               llvm::function_ref<Piece<E>(Bucket<E> &)> pieceOf, std::vector<E> &total) {
  for (int64_t r : members) {
    Bucket<E> &bucket = find(ranks[r], symbol);
    Piece<E> piece = pieceOf(bucket);
    if (StringRef member = bucket.findUnset(piece); !member.empty())
      return missing(action, ranks[r], "gradient", member, "is not written yet");
    total.resize(piece.count);
    for (int64_t k = 0; k < piece.count; ++k)
      total[k] += piece.cells->elements[piece.first + k];
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::ReduceScatterOp scatter) {
  std::vector<std::vector<E>> totals(ranks.size());
  for (Rank<E> &rank : ranks)
    if (failed(sum(
            scatter, scatter.getBucketAttr(), shardGroup(rank.index),
            [&](Bucket<E> &bucket) { return bucket.slice(bucket.grads, rank.index % op.getMesh().getShards()); },
            totals[rank.index])))
      return failure();
  for (Rank<E> &rank : ranks) {
    Bucket<E> &bucket = find(rank, scatter.getBucketAttr());
    Piece<E> own = bucket.ownGrads();
    bool adds = scatter.getAccumulate() && Bucket<E>::isSharded(bucket.op.getGrads());
    if (StringRef member = bucket.findUnset(own); adds && !member.empty())
      return missing(scatter, rank, "gradient", member, "is not reduced yet");
    bucket.grads.clear(0, bucket.elements()); // the other slices are other ranks' now
    for (auto [k, element] : llvm::enumerate(totals[rank.index]))
      own.cells->set(own.first + k, adds ? own.cells->elements[own.first + k] + element : element);
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::AllReduceOp reduce) {
  auto pieceOf = [&](Bucket<E> &bucket) {
    return reduce.getExtent() == sched::Extent::shard ? bucket.ownGrads() : bucket.whole(bucket.grads);
  };
  std::vector<std::vector<E>> totals(ranks.size());
  for (Rank<E> &rank : ranks)
    if (failed(sum(reduce, reduce.getBucketAttr(), reduce.getGroup().members(op.getMesh(), rank.index), pieceOf,
                   totals[rank.index])))
      return failure();
  for (Rank<E> &rank : ranks) {
    Piece<E> piece = pieceOf(find(rank, reduce.getBucketAttr()));
    for (auto [k, element] : llvm::enumerate(totals[rank.index]))
      piece.cells->set(piece.first + k, element);
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::NormOp norm) {
  for (Rank<E> &rank : ranks) {
    Bucket<E> &bucket = find(rank, norm.getBucketAttr());
    Piece<E> piece = bucket.ownGrads();
    if (StringRef member = bucket.findUnset(piece); !member.empty())
      return missing(norm, rank, "gradient", member, "is not reduced yet");
    ProductSum<E> squares;
    for (int64_t k = 0; k < piece.count; ++k)
      squares.add(piece.cells->elements[piece.first + k], piece.cells->elements[piece.first + k]);
    Datum<E> term = Tensor<E>({}, squares.get());
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

template <class E> LogicalResult Timeline<E>::act(sched::AllReduceScalarsOp reduce) {
  for (Attribute attribute : reduce.getScalars()) {
    std::string name = cast<StringAttr>(attribute).str();
    std::vector<Datum<E>> terms;
    for (Rank<E> &rank : ranks) {
      auto it = rank.scalars.find(name);
      if (it == rank.scalars.end())
        return missing(reduce, rank, "scalar", name, "is not written yet");
      terms.push_back(it->second);
    }
    for (Rank<E> &rank : ranks) {
      SmallVector<int64_t> members = reduce.getGroup().members(op.getMesh(), rank.index);
      Datum<E> total = terms[members.front()];
      for (int64_t member : ArrayRef(members).drop_front())
        addTo<E>(total, terms[member]);
      rank.scalars[name] = std::move(total);
    }
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::ScalarsOp scalars) {
  auto function = symbols.lookup<func::FuncOp>(scalars.getFunction());
  if (!function)
    return scalars.emitOpError("runs a function that is not there");
  for (Rank<E> &rank : ranks) {
    SmallVector<Datum<E>> arguments, results;
    for (StringRef name : {sched::kLossSum, sched::kLossCount, sched::kSumSquares}) {
      auto it = rank.scalars.find(name.str());
      if (it == rank.scalars.end())
        return missing(scalars, rank, "scalar", name, "is not written yet");
      arguments.push_back(it->second);
    }
    if (failed(evaluate<E>(function, arguments, options, results)))
      return failure();
    for (auto [name, result] : llvm::zip(ArrayRef<StringRef>{kLoss, kNorm, "@scale"}, results))
      rank.scalars[name.str()] = std::move(result);
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::act(sched::UpdateOp update) {
  for (Rank<E> &rank : ranks) {
    Bucket<E> &bucket = find(rank, update.getBucketAttr());
    auto scale = rank.scalars.find("@scale");
    if (scale == rank.scalars.end())
      return missing(update, rank, "scalar", "@scale", "is not written yet");
    int64_t group = bucket.op.getGroup();
    if (group < 0 || group >= int64_t(model.groups.size()))
      return update.emitOpError() << "bucket '" << bucket.op.getSymName() << "' has optimizer group " << group << " of "
                                  << model.groups.size();
    auto hyper = cast<DictionaryAttr>(model.groups[group]);
    Tensor<E> scalars = groupScalars<E>(hyper, now);
    scalars.elements[1] = std::get<Tensor<E>>(scale->second).elements[0];
    bool isSharded = Bucket<E>::isSharded(bucket.op.getStates());
    Piece<E> params = isSharded ? bucket.ownParams() : bucket.whole(bucket.params);
    Piece<E> grads = isSharded ? bucket.ownGrads() : bucket.whole(bucket.grads);
    if (StringRef member = bucket.findUnset(grads); !member.empty())
      return missing(update, rank, "gradient", member, "is not reduced yet");
    if (StringRef member = bucket.findUnset(params); !member.empty())
      return missing(update, rank, "parameter", member, "is not there");
    auto rule = Update<E>::of(hyper, functions);
    if (isSharded) // what was gathered before is out of date, but for this rank's slice
      for (int64_t slice = 0; slice < bucket.shards; ++slice)
        if (Bucket<E>::isSharded(bucket.op.getParams()) || slice != bucket.sliceIndex())
          bucket.params.clear(slice * bucket.sliceSize(), bucket.sliceSize());
    for (int64_t k = 0; k < params.count; ++k) {
      SmallVector<E *> states;
      for (Cells<E> &state : bucket.states)
        states.push_back(&state.elements[k]);
      rule(params.cells->elements[params.first + k], grads.cells->elements[grads.first + k], states, scalars.elements);
    }
  }
  return success();
}

} // namespace

namespace xlc::interpret {
template <class E>
std::unique_ptr<Runner<E>> makeTimeline(sched::TimelineOp op, const Model &model, const Source<E> &source,
                                        const Options &options) {
  return std::make_unique<Timeline<E>>(op, model, source, options);
}
template std::unique_ptr<Runner<double>> makeTimeline(sched::TimelineOp, const Model &, const Source<double> &,
                                                      const Options &);
template std::unique_ptr<Runner<float>> makeTimeline(sched::TimelineOp, const Model &, const Source<float> &,
                                                     const Options &);
template std::unique_ptr<Runner<Field>> makeTimeline(sched::TimelineOp, const Model &, const Source<Field> &,
                                                     const Options &);
} // namespace xlc::interpret
