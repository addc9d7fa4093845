// Runs the `sched` timelines of all stages on all ranks in one process.
//
// The ranks of a stage share its timeline, so they run in lockstep: each action is done for every rank before the next
// one, and a collective moves elements between the ranks' buckets. Stages take turns: each goes on by itself until it
// comes to an action that it does with others, a transfer or a sum over stages, and waits there until they have come
// too.
#include "BucketActions.h"
#include "Partitioned.h"
#include "xlc/Dialect/Graph/LossScale.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

template <class E> class Timeline : public Runner<E> {
public:
  Timeline(ArrayRef<sched::TimelineOp> ops, const Model &model, const Source<E> &source, const Options &options)
      : trained(ops), evaluated(sched::timelinesOf(sched::TimelineOp(ops.front())->getParentOfType<ModuleOp>(),
                                                   graph::Purpose::evaluate)),
        timelines(ops), model(model), source(source), options(options), functions(options.seed),
        symbols(sched::TimelineOp(ops.front())->getParentOfType<ModuleOp>()) {
    world.mesh = sched::TimelineOp(ops.front()).getMesh();
    for (int64_t r = 0; r < world.mesh.getRanks(); ++r)
      world.ranks.push_back(makeRank<E>(timelines[world.mesh.ppOf(r)], r, model, source));
  }

  LogicalResult step(int64_t t) override {
    now = t;
    options.clock.seed = source.seed, options.clock.step = options.clock.applied = t;
    if (failed(checkBuckets()))
      return failure();
    for (Rank<E> &rank : world.ranks) {
      rank.scalars.clear();
      rank.activations.clear();
      for (auto &[name, bucket] : rank.buckets) {
        bucket.grads.clear(0, bucket.elements());
        bucket.gradShard.clear(0, bucket.sliceSize());
      }
    }
    return runAll();
  }

  LogicalResult evaluate(int64_t t, Runner<E>::Visit visit) override {
    if (evaluated.empty())
      return sched::TimelineOp(timelines.front())
          .emitError("the model has an evaluation, but no sched.timeline exists for it");
    now = t;
    for (Rank<E> &rank : world.ranks)
      rank.scalars.clear(), rank.activations.clear();
    timelines = evaluated;
    LogicalResult outcome = failure(failed(checkBuckets()) || failed(runAll()));
    timelines = trained;
    for (Rank<E> &rank : world.ranks)
      for (const auto &[name, value] : rank.scalars)
        visit(rank.index, name, value);
    return outcome;
  }

  LogicalResult forEachHeld(Runner<E>::Visit visit) override {
    std::vector<Values<E>> values;
    if (failed(collectValues<E>(world.mesh, world.ranks, model, values)))
      return failure();
    for (auto [rank, held] : llvm::enumerate(values))
      for (const auto &[name, value] : held)
        visit(rank, name, value);
    return success();
  }

private:
  LogicalResult checkBuckets();
  LogicalResult runAll();
  bool isShared(Operation &action) const;
  SmallVector<Operation *> findPartners(Operation &action) const;
  LogicalResult run(ArrayRef<Operation *> actions);
  template <class Op> LogicalResult together(ArrayRef<Operation *> actions) {
    return act(world, ArrayRef<Op>(llvm::map_to_vector(actions, [](Operation *op) { return cast<Op>(op); })));
  }
  LogicalResult transfer(sched::SendOp send, sched::ReceiveOp receive);
  LogicalResult load(sched::LoadOp);
  LogicalResult store(sched::StoreOp);
  LogicalResult runUnit(sched::RunOp);
  LogicalResult computeScalars(sched::ScalarsOp);

  LogicalResult gatherArguments(sched::RunOp, func::FuncOp, Rank<E> &, SmallVectorImpl<Datum<E>> &);
  LogicalResult store(sched::RunOp, Rank<E> &, StringRef name, bool accumulate, Datum<E> value);
  LogicalResult storeGradient(sched::RunOp, Rank<E> &, StringRef name, bool accumulate, const Tensor<E> &value);
  std::pair<Bucket<E> *, int64_t> findMember(Rank<E> &rank, StringRef name);

  const SmallVector<sched::TimelineOp> trained, evaluated;
  SmallVector<sched::TimelineOp> timelines; ///< that run
  const Model &model;
  Source<E> source;
  Options options;
  Functions<E> functions;
  SymbolTable symbols;
  World<E> world;
  SmallVector<Operation *> next; ///< by stage: the action it has come to; null at the end
  int64_t now = 0;
};

/// Every bucket that an action names is there.
template <class E> LogicalResult Timeline<E>::checkBuckets() {
  for (sched::TimelineOp timeline : timelines)
    for (Operation &action : timeline.getBody().front())
      if (auto named = dyn_cast<sched::BucketAction>(action)) {
        auto bucket = symbols.lookup<sched::BucketOp>(named.getBucketAttr().getValue());
        if (!bucket || !sched::isOnStage(bucket, timeline.getStage()))
          return action.emitOpError() << "names bucket '" << named.getBucketAttr().getValue()
                                      << "', which does not exist";
      }
  return success();
}

/// Every stage goes on as far as it can, in turns, until all are at their end.
template <class E> LogicalResult Timeline<E>::runAll() {
  next.clear();
  for (sched::TimelineOp timeline : timelines) {
    Block &block = timeline.getBody().front();
    next.push_back(block.empty() ? nullptr : &block.front());
  }
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (size_t stage = 0; stage < next.size(); ++stage)
      while (Operation *action = next[stage]) {
        SmallVector<Operation *> partners =
            isShared(*action) ? findPartners(*action) : SmallVector<Operation *>{action};
        if (partners.empty())
          break;
        if (failed(run(partners)))
          return failure();
        for (Operation *done : partners)
          next[done->getParentOfType<sched::TimelineOp>().getStage()] = done->getNextNode();
        isMoving = true;
      }
  }
  for (auto [stage, action] : llvm::enumerate(next))
    if (action)
      return action->emitOpError() << "of stage " << stage
                                   << " waits for a stage that never reaches the matching action";
  return success();
}

ArrayRef<int64_t> stagesOf(sched::CollectiveAction action) {
  return action.getGroupOn(action->getParentOfType<sched::TimelineOp>().getMesh()).getStages();
}

/// Whether two stages' actions are the same collective.
bool isPartner(Operation *other, Operation *own) {
  if (auto collective = dyn_cast<sched::CollectiveOp>(own)) {
    auto same = dyn_cast_or_null<sched::CollectiveOp>(other);
    return same && same.getKind() == collective.getKind() && same.getGroupAttr() == collective.getGroupAttr() &&
           same.getBucketAttr() == collective.getBucketAttr();
  }
  auto scalars = dyn_cast<sched::AllReduceScalarsOp>(own), same = dyn_cast_or_null<sched::AllReduceScalarsOp>(other);
  return scalars && same && same.getGroup() == scalars.getGroup() && same.getScalars() == scalars.getScalars();
}

template <class E> bool Timeline<E>::isShared(Operation &action) const {
  auto collective = dyn_cast<sched::CollectiveAction>(action);
  return isa<sched::TransferAction>(action) || (collective && stagesOf(collective).size() > 1);
}

/// The actions of all stages that take part in a shared one, in the order of stages; none as long as one is not there.
template <class E> SmallVector<Operation *> Timeline<E>::findPartners(Operation &action) const {
  int64_t own = action.getParentOfType<sched::TimelineOp>().getStage();
  auto at = [&](int64_t stage) { return stage < (int64_t)next.size() ? next[stage] : nullptr; };
  if (auto transfer = dyn_cast<sched::TransferAction>(action)) {
    auto other = dyn_cast_or_null<sched::TransferAction>(at(transfer.getPeer()));
    bool isOther = other && isa<sched::SendOp>(other) != isa<sched::SendOp>(action);
    if (!isOther || other.getMessage() != transfer.getMessage() || (int64_t)other.getPeer() != own)
      return {};
    return isa<sched::SendOp>(action) ? SmallVector<Operation *>{&action, other}
                                      : SmallVector<Operation *>{other, &action};
  }
  SmallVector<Operation *> partners;
  for (int64_t stage : stagesOf(cast<sched::CollectiveAction>(action))) {
    if (!isPartner(at(stage), &action))
      return {};
    partners.push_back(at(stage));
  }
  return partners;
}

/// One action, or one that several stages do together.
template <class E> LogicalResult Timeline<E>::run(ArrayRef<Operation *> actions) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(actions.front())
      .Case([&](sched::SendOp send) { return transfer(send, cast<sched::ReceiveOp>(actions[1])); })
      .Case([&](sched::CollectiveOp) { return together<sched::CollectiveOp>(actions); })
      .Case([&](sched::AllReduceScalarsOp) { return together<sched::AllReduceScalarsOp>(actions); })
      .Case([&](sched::LoadOp op) { return load(op); })
      .Case([&](sched::StoreOp op) { return store(op); })
      .Case([&](sched::RunOp op) { return runUnit(op); })
      .Case([&](sched::ScalarsOp op) { return computeScalars(op); })
      .Case([&](sched::UpdateOp op) { return act(world, op, model, options.clock, functions); })
      .template Case<sched::ReleaseOp, sched::NormOp, sched::ZeroScalarsOp>([&](auto op) { return act(world, op); })
      .Default([](Operation *other) { return other->emitError() << "the interpreter does not support this action"; });
}

/// From each rank of the sender's stage to the one of equal dp and tp on the receiver's.
template <class E> LogicalResult Timeline<E>::transfer(sched::SendOp send, sched::ReceiveOp receive) {
  if (send.getValue().getType() != receive.getValue().getType())
    return receive.emitOpError() << "receives " << receive.getValue().getType() << ", but " << send.getValue().getType()
                                 << " was sent";
  for (auto [from, to] : llvm::zip(world.ranksOf(send), world.ranksOf(receive)))
    to.activations[receive.getValue()] = from.activations.find(send.getValue())->second;
  return success();
}

template <class E> LogicalResult Timeline<E>::load(sched::LoadOp load) {
  auto timeline = load->getParentOfType<sched::TimelineOp>();
  Cut cut{world.mesh.getDp(), int64_t(timeline.getMicroBatches())};
  for (Rank<E> &rank : world.ranksOf(load))
    for (auto [name, value] : llvm::zip(load.getInputs(), load.getValues())) {
      const Model::Input *input = model.findInput(cast<StringAttr>(name).getValue());
      if (!input)
        return load.emitOpError() << "loads " << name << ", which is not an input of the model";
      int64_t first = cut.firstRow(*input, world.mesh.dpOf(rank.index), load.getMicroBatch());
      rank.activations[value] = timeline.isTraining()
                                    ? source.rows(*input, now, first)
                                    : source.rowsOfEvaluation(*input, now, first, cut.allRows(*input));
    }
  return success();
}

template <class E> LogicalResult Timeline<E>::store(sched::StoreOp store) {
  for (Rank<E> &rank : world.ranksOf(store))
    for (auto [name, value] : llvm::zip(store.getOutputs().getAsRange<StringAttr>(), store.getValues()))
      rank.scalars[nameOfPart(name, store.getMicroBatch(), world.mesh.dpOf(rank.index))] =
          rank.activations.find(value)->second;
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
  for (int64_t site : run.getSites())
    arguments.push_back(Integers(Shape{}, (int64_t)runtime::subsequenceOfSite(site)));
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

/// A unit function on every rank of a stage; those of a tensor-parallel group are neighbours and run in lockstep.
template <class E>
LogicalResult evaluateOnRanks(func::FuncOp function, ArrayRef<SmallVector<Datum<E>>> arguments, int64_t tp,
                              const Options &options, std::vector<SmallVector<Datum<E>>> &results) {
  for (; !arguments.empty(); arguments = arguments.drop_front(tp)) {
    std::vector<SmallVector<Datum<E>>> produced;
    if (failed(evaluateRanks<E>(function, arguments.take_front(tp).vec(), options, produced)))
      return failure();
    llvm::append_range(results, std::move(produced));
  }
  return success();
}

template <class E> LogicalResult Timeline<E>::runUnit(sched::RunOp run) {
  auto function = symbols.lookup<func::FuncOp>(run.getFunction());
  if (!function)
    return run.emitOpError() << "runs '" << run.getFunction() << "', which is not a function of the module";
  size_t outs = run.getOuts().size();
  MutableArrayRef<Rank<E>> ranks = world.ranksOf(run);
  std::vector<SmallVector<Datum<E>>> arguments(ranks.size()), results;
  for (auto [rank, own] : llvm::zip(ranks, arguments))
    if (failed(gatherArguments(run, function, rank, own)))
      return failure();
  if (failed(evaluateOnRanks<E>(function, arguments, world.mesh.getTp(), options, results)))
    return failure();
  for (auto [rank, own] : llvm::zip(ranks, results)) {
    if (own.size() != outs + run.getStores().size())
      return run.emitOpError() << "uses " << outs + run.getStores().size() << " results, but the function returns "
                               << own.size();
    for (auto [value, result] : llvm::zip(run.getOuts(), own))
      rank.activations[value] = std::move(result);
    for (auto [i, name, accumulate] : llvm::enumerate(run.getStores(), run.getAccumulate()))
      if (failed(store(run, rank, cast<StringAttr>(name).getValue(), accumulate, std::move(own[outs + i]))))
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
  std::vector<E> sums(value.elements.begin(), value.elements.end());
  for (size_t k = 0; accumulate && k < sums.size(); ++k)
    sums[k] = bucket->grads.elements[offset + k] + sums[k];
  roundTo<E>(bucket->op.getTypeOfGradients(), sums);
  for (auto [k, element] : llvm::enumerate(sums))
    bucket->grads.set(offset + k, element);
  return success();
}

template <class E> LogicalResult Timeline<E>::computeScalars(sched::ScalarsOp scalars) {
  auto function = symbols.lookup<func::FuncOp>(scalars.getFunction());
  if (!function)
    return scalars.emitOpError() << "runs '" << scalars.getFunction() << "', which is not a function of the module";
  for (Rank<E> &rank : world.ranksOf(scalars)) {
    SmallVector<Datum<E>> arguments, results;
    for (StringRef name : {sched::kLossSum, sched::kLossCount, sched::kSumSquares}) {
      auto it = rank.scalars.find(name.str());
      if (it == rank.scalars.end())
        return missing(scalars, rank, "scalar", name, "is not written yet");
      arguments.push_back(it->second);
    }
    auto scale = LossScale::of(scalars->getParentOfType<ModuleOp>());
    arguments.push_back(Tensor<E>({}, fromDouble<E>(scale ? scale->initial : 1))); // no step is skipped
    if (failed(evaluate<E>(function, arguments, options, results)))
      return failure();
    for (auto [name, result] : llvm::zip(ArrayRef<StringRef>{kLoss, kNorm, "@scale"}, results))
      rank.scalars[name.str()] = std::move(result);
  }
  return success();
}

} // namespace

namespace xlc::interpret {
template <class E>
std::unique_ptr<Runner<E>> makeTimeline(ArrayRef<sched::TimelineOp> ops, const Model &model, const Source<E> &source,
                                        const Options &options) {
  return std::make_unique<Timeline<E>>(ops, model, source, options);
}
template std::unique_ptr<Runner<double>> makeTimeline(ArrayRef<sched::TimelineOp>, const Model &,
                                                      const Source<double> &, const Options &);
template std::unique_ptr<Runner<float>> makeTimeline(ArrayRef<sched::TimelineOp>, const Model &, const Source<float> &,
                                                     const Options &);
template std::unique_ptr<Runner<Field>> makeTimeline(ArrayRef<sched::TimelineOp>, const Model &, const Source<Field> &,
                                                     const Options &);
} // namespace xlc::interpret
