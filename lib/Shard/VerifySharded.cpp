// The gate of Shard: derives the state of every value across the ranks from one rank's program alone, and rejects
// invalid sums and mixtures of states.
//
// A value is the same on all ranks, a piece of a tensor, terms of a sum (partial), a rank's own maximum, or an index
// that differs by rank. Partial values may be added to partial values and pass through linear ops; any other use is a
// bug that other systems shipped: a norm's gradient never reduced, a bias added on every rank, a residual counted
// twice. The split of a piece is a dimension and its number of runs; through reshapes it is tracked by the number of
// elements above the cut in the flat local tensor.
//
// It reads @micro_batch while that exists, then the timelines that DataParallel creates from it: so it runs after every
// pass from Shard to Schedule. A function that is entered again with the same states is not read again. In a timeline,
// which repeats its runs micro-batch by micro-batch, states are numbered, so that a comparison is cheap.
#include "RankStates.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Shard/Shard.h"
#include "llvm/ADT/TypeSwitch.h"

namespace xlc {
#define GEN_PASS_DEF_VERIFYSHARDEDPASS
#include "xlc/Shard/Passes.h.inc"
} // namespace xlc

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

class Checker : RankStates {
public:
  using RankStates::RankStates;

  LogicalResult check(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (auto layout = function.getArgAttrOfType<dist::LayoutAttr>(argument.getArgNumber(), dist::kLayout))
        states[argument] = State::of(Layout::split(layout.getDim(), layout.getOuter(), layout.getGroup().size()));
    if (failed(run(function.front())))
      return failure();
    return checkReturned(function);
  }

  Operation *refused = nullptr; ///< by `check` of a function; null where that is something about its results

  LogicalResult check(ModuleOp module) {
    for (auto bucket : module.getOps<sched::BucketOp>())
      for (auto [number, member] : llvm::enumerate(bucket.getMembers().getAsValueRange<StringAttr>()))
        places[member] = placeOf(bucket, number);
    SmallVector<Progress> timelines;
    for (auto timeline : module.getOps<sched::TimelineOp>())
      timelines.push_back({timeline.getBody().front().begin(), timeline.getBody().front().end()});
    // The order of messages is one, so some timeline always gets on; if none does, the rendezvous simulator says why.
    for (bool isMoving = true; isMoving;) {
      isMoving = false;
      for (auto &[next, end] : timelines)
        for (; next != end && !isWaiting(*next); ++next, isMoving = true)
          if (failed(play(*next)))
            return failure();
    }
    return success();
  }

private:
  using RankStates::inferOp;

  LogicalResult run(Block &block) {
    for (Operation &op : block.without_terminator()) {
      SmallVector<State> results(op.getNumResults());
      if (failed(infer(&op, results))) {
        refused = &op;
        return failure();
      }
      for (auto [result, state] : llvm::zip(op.getResults(), results))
        states[result] = state;
    }
    return success();
  }

  LogicalResult infer(Operation *op, SmallVectorImpl<State> &results) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<func::CallOp>([&](auto call) { return enter(call, results); })
        .Case<dist::AxisIndexOp>([&](auto index) {
          results[0].kind = State::Kind::Index;
          results[0].group = index.getGroup();
          return success();
        })
        .Case<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp, dist::AllToAllOp, ReshapeOp, BroadcastOp,
              ConstantOp, IotaOp, GatherOp, ScatterAddOp, AttentionOp, AttentionBackwardOp>(
            [&](auto known) { return inferOp(known, results); })
        .Default([&](Operation *other) { return inferByFactors(other, results); });
  }

  LogicalResult enter(func::CallOp call, SmallVectorImpl<State> &results) {
    auto given = llvm::map_to_vector(call.getOperands(), [&](Value operand) { return State(of(operand)); });
    return enter(call, call.getCalleeAttr(), given, results);
  }

  /// A unit function, on what it is called with.
  LogicalResult enter(Operation *caller, SymbolRefAttr name, ArrayRef<State> given, SmallVectorImpl<State> &results) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(caller, name);
    SmallVectorImpl<Entered> &known = entered[callee];
    auto before = llvm::find_if(known, [&](const Entered &entry) { return ArrayRef(entry.given) == given; });
    if (before == known.end()) {
      for (auto [argument, state] : llvm::zip(callee.getArguments(), given))
        states[argument] = state;
      if (failed(run(callee.front())))
        return failure();
      Entered now{SmallVector<State>(given), {}};
      for (Value returned : callee.front().getTerminator()->getOperands())
        now.returned.push_back(of(returned));
      // What the callee calls may have moved `known`.
      before = &entered[callee].emplace_back(std::move(now));
    }
    results.assign(before->returned.begin(), before->returned.end());
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Timelines
  //===--------------------------------------------------------------------===//

  struct Progress {
    Block::iterator next, end;
  };

  /// A run with its function, parameters and stores: what it was given, what its outs were. Numbers of states.
  struct Played {
    SmallVector<unsigned> given, returned;
  };

  /// Where a stored value goes: how it is to be cut, and over whom it may still be a partial sum.
  struct Place {
    std::string what;
    State wanted;
    dist::GroupAttr partial;
  };

  /// Of a gradient; a parameter itself lies as its gradient does, and is no partial sum.
  static Place placeOf(sched::BucketOp bucket, size_t member) {
    Place place{"the gradient of '" + cast<StringAttr>(bucket.getMembers()[member]).str() + "'", {}, nullptr};
    if (bucket.getLayouts())
      if (auto layout = dyn_cast<dist::LayoutAttr>((*bucket.getLayouts())[member]))
        place.wanted = State::of(Layout::split(layout.getDim(), layout.getOuter(), layout.getGroup().size()));
    place.partial = bucket.getPartialAttr();
    return place;
  }

  bool isWaiting(Operation &op) {
    auto receive = dyn_cast<sched::ReceiveOp>(op);
    return receive && !messages.contains(receive.getMessage());
  }

  LogicalResult play(Operation &op) {
    if (auto send = dyn_cast<sched::SendOp>(op))
      messages[send.getMessage()] = numbers.lookup(send.getValue());
    else if (auto receive = dyn_cast<sched::ReceiveOp>(op))
      numbers[receive.getValue()] = messages.lookup(receive.getMessage());
    else if (auto call = dyn_cast<sched::RunOp>(op))
      return play(call);
    return success(); // what is loaded is whole, as an unknown value is
  }

  LogicalResult play(sched::RunOp call) {
    SmallVector<unsigned> given =
        llvm::map_to_vector(call.getValues(), [&](Value value) { return numbers.lookup(value); });
    auto &known = played[{{call.getFunctionAttr(), call.getParams()}, call.getStores()}];
    auto *before = llvm::find_if(known, [&](const Played &run) { return run.given == given; });
    if (before == known.end()) {
      Played now{given, {}};
      if (failed(playAnew(call, now)))
        return failure();
      before = &known.emplace_back(std::move(now));
    }
    for (auto [out, number] : llvm::zip(call.getOuts(), before->returned))
      numbers[out] = number;
    return success();
  }

  LogicalResult playAnew(sched::RunOp call, Played &now) {
    auto given = llvm::map_to_vector(now.given, [&](unsigned number) { return numbered[number]; });
    given.append(call.getSites().size(), State());
    for (StringRef parameter : call.getParams().getAsValueRange<StringAttr>())
      given.push_back(places[parameter].wanted);
    SmallVector<State> returned;
    if (failed(enter(call, call.getFunctionAttr(), given, returned)))
      return failure();
    for (const State &state : ArrayRef(returned).take_front(call.getOuts().size()))
      now.returned.push_back(numberOf(state));
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getFunctionAttr());
    for (auto [number, store] : llvm::enumerate(call.getStores().getAsValueRange<StringAttr>())) {
      unsigned result = call.getOuts().size() + number;
      auto known = places.find(store);
      Place place = known == places.end() ? Place{"'" + store.str() + "'", {}, nullptr} : known->second;
      if (failed(checkStored(call, place, callee.front().getTerminator()->getOperand(result), returned[result])))
        return failure();
    }
    return success();
  }

  unsigned numberOf(const State &state) {
    auto *known = llvm::find(numbered, state);
    if (known == numbered.end())
      known = &numbered.emplace_back(state);
    return known - numbered.begin();
  }

  LogicalResult checkStored(Operation *op, const Place &place, Value value, const State &state) {
    if (state.isZero)
      return success();
    if (state.kind != State::Kind::Same)
      return op->emitError() << "gate of Shard: " << place.what << " has a different value on each rank";
    if (state.isPartial() != bool(place.partial) ||
        (place.partial && place.partial != dist::GroupAttr::tensorParallel(op->getContext(), tp / state.parts())))
      return op->emitError() << "gate of Shard: " << place.what << (state.isPartial() ? " is" : " is not")
                             << " a partial sum, but " << (place.partial ? "is" : "is not") << " declared as one";
    if (!isSameCut(shapeOf(value), state.layout, place.wanted.layout))
      return op->emitError() << "gate of Shard: " << place.what << " is not split as its parameter is";
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Collectives
  //===--------------------------------------------------------------------===//

  LogicalResult inferOp(dist::AllReduceOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    if (op.getKind() == dist::Reduction::max && state.kind == State::Kind::Max)
      return success();
    if (op.getKind() == dist::Reduction::max || !state.isPartial())
      return rejectOp(op) << "has an operand that is not partial, so each rank would add it again";
    if (auto holders = dist::GroupAttr::tensorParallel(op.getContext(), tp / state.parts()); op.getGroup() != holders)
      return rejectOp(op) << "sums over " << op.getGroup() << ", but the terms of the sum are held by " << holders;
    results[0] = State::of(state.layout.summed());
    return success();
  }

  LogicalResult inferOp(dist::AllGatherOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    int64_t parts = state.parts() / op.getGroup().size();
    Layout layout = Layout::split(op.getDim(), op.getOuter(), state.parts());
    if (!state.isPiece() || state.isPartial() || !isSameCut(shapeOf(op.getX()), layout, state.layout) || parts < 1 ||
        !isPartsGroup(op.getGroup(), state.parts(), parts))
      return rejectOp(op) << "gathers a value that is not split as the op declares";
    results[0] = State::of(Layout::split(op.getDim(), op.getOuter(), parts));
    return success();
  }

  LogicalResult inferOp(dist::AllToAllOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    Layout layout = Layout::split(op.getFrom(), op.getFromOuter(), state.parts());
    if (!state.isPiece() || state.isPartial() || !isSameCut(shapeOf(op.getX()), layout, state.layout) ||
        !isPartsGroup(op.getGroup(), state.parts()))
      return rejectOp(op) << "exchanges a value that is not split as the op declares";
    results[0] = State::of(Layout::split(op.getTo(), op.getToOuter(), state.parts()));
    return success();
  }

  LogicalResult inferOp(dist::ReduceScatterOp op, SmallVectorImpl<State> &results) {
    State state = of(op.getX());
    if (!state.isPartial() || !isPartsGroup(op.getGroup(), tp, state.parts()))
      return rejectOp(op) << "reduces a value that is not partial over its group";
    results[0] = State::of(Layout::split(op.getDim(), op.getOuter(), tp));
    return success();
  }

  //===--------------------------------------------------------------------===//
  // What is returned
  //===--------------------------------------------------------------------===//

  LogicalResult checkReturned(func::FuncOp function) {
    llvm::StringMap<bool> isPartial;
    llvm::StringMap<Value> parameters;
    for (BlockArgument argument : function.getArguments())
      if (auto name = Argument(argument).getParameter())
        parameters[name] = argument;
    for (OpOperand &returned : function.front().getTerminator()->getOpOperands()) {
      unsigned number = returned.getOperandNumber();
      auto name = Result(function, number).getGradient();
      Place place{name ? "the gradient of '" + name.str() + "'" : "result " + std::to_string(number),
                  {},
                  function.getResultAttrOfType<dist::GroupAttr>(number, dist::kPartial)};
      if (name)
        place.wanted = of(parameters.lookup(name));
      State state = of(returned.get());
      if (failed(checkStored(function, place, returned.get(), state))) {
        refused = returned.get().getDefiningOp();
        return failure();
      }
      if (name && !state.isZero && isPartial.try_emplace(name, state.isPartial()).first->second != state.isPartial())
        return function.emitError() << "gate of Shard: some of the contributions to " << place.what
                                    << " are partial sums, and some are not";
    }
    return success();
  }

  struct Entered {
    SmallVector<State> given, returned;
  };

  SymbolTableCollection symbols;
  DenseMap<Operation *, SmallVector<Entered, 1>> entered; ///< by function
  llvm::StringMap<Place> places;                          ///< by parameter
  SmallVector<State> numbered{State()};                   ///< the states of timelines, first that of an unknown value
  DenseMap<Value, unsigned> numbers;                      ///< of the values of timelines: places in `numbered`
  DenseMap<int64_t, unsigned> messages;                   ///< the same by message
  using RunKey = std::pair<std::pair<Attribute, Attribute>, Attribute>;
  DenseMap<RunKey, SmallVector<Played, 1>> played; ///< by function, parameters and stores
};

struct VerifyShardedPass : xlc::impl::VerifyShardedPassBase<VerifyShardedPass> {
  using Base::Base;

  void runOnOperation() override {
    int64_t ranks = dist::getMesh(getOperation()).getTp();
    if (ranks == 1)
      return;
    SmallVector<Entry, 2> entries = Entry::all(getOperation());
    auto isFine = [&](Entry entry) { return succeeded(Checker(ranks).check(entry.getFunction())); };
    if (entries.empty() ? failed(Checker(ranks).check(getOperation())) : !llvm::all_of(entries, isFine))
      signalPassFailure();
  }
};

} // namespace

Operation *shard::findRefused(func::FuncOp function, int64_t tp) {
  ScopedDiagnosticHandler silent(function.getContext(), [](Diagnostic &) { return success(); });
  Checker checker(tp);
  if (succeeded(checker.check(function)))
    return nullptr;
  return checker.refused ? checker.refused : function;
}
