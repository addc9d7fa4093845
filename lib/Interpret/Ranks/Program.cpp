// Runs the `exec` programs of all pipeline stages in one process.
//
// Stages take turns: each goes on by itself until it comes to an action that it does with other stages, and waits
// there until they have come too. A transfer is such a rendezvous of two, a collective of several stages one of more.
// Stages that all wait, for one another, are an error that names what each waits at.
//
// Where an order is asked for, a stage has a queue for each stream instead of one for all, and which of the actions at
// their heads is next is drawn.
#include "Partitioned.h"
#include "StageProgram.h"
#include <map>
#include <random>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

template <class E> class Program : public Runner<E> {
public:
  Program(ArrayRef<exec::ProgramOp> ops, const Model &model, const Source<E> &source, const Options &options,
          const std::optional<Order> &order, KernelResults<E> *known)
      : order(order) {
    auto add = [&](exec::ProgramOp op, std::vector<Stage> &to) {
      Stage &stage = to.emplace_back();
      stage.program = std::make_unique<StageProgram<E>>(op, model, source, options, known);
      llvm::append_range(stage.actions, op.getBody().front().getOps<exec::Action>());
      stage.queues.resize(order ? exec::getMaxEnumValForStream() + 1 : 1);
      stage.runsStreams = order.has_value();
      for (auto [number, action] : llvm::enumerate(stage.actions))
        stage.queues[order ? size_t(action.getStream()) : 0].push_back(number);
    };
    for (exec::ProgramOp op : ops)
      add(op, stages);
    exec::ProgramOp first = ops.front();
    for (exec::ProgramOp op : exec::programsOf(first->getParentOfType<ModuleOp>(), graph::Purpose::evaluate))
      add(op, others);
  }

  LogicalResult step(int64_t t) override {
    if (t == 1)
      for (Stage &stage : stages)
        if (failed(stage.program->initialize()))
          return failure();
    return runAll(t);
  }

  /// On memory of its own, in which all that outlives a step is that of training.
  LogicalResult evaluate(int64_t t, Runner<E>::Visit visit) override {
    if (others.size() != stages.size())
      return stages.front().program->op.emitError() << "the model has an evaluation, but only " << others.size()
                                                    << " of " << stages.size() << " stages have an exec.program for it";
    for (auto [own, trained] : llvm::zip(others, stages)) {
      if (t == 1 && failed(own.program->initialize()))
        return failure();
      own.program->memory.takePersistent(trained.program->memory);
    }
    std::swap(stages, others);
    LogicalResult outcome = runAll(t);
    for (Stage &stage : stages)
      for (int64_t rank = 0; rank < stage.program->stageRanks && succeeded(outcome); ++rank)
        outcome = stage.program->collectResults(rank, visit);
    std::swap(stages, others);
    return outcome;
  }

  LogicalResult runAll(int64_t t) {
    now = t;
    for (Stage &stage : stages)
      stage.beginStep();
    std::mt19937_64 random(order ? order->seed + t : 0);
    while (true) {
      std::vector<Turn> turns = findTurns();
      if (order)
        std::shuffle(turns.begin(), turns.end(), random);
      FailureOr<bool> went = advanceOne(turns);
      if (failed(went))
        return failure();
      if (!*went)
        break;
    }
    for (size_t i = 0; i < stages.size(); ++i)
      if (waitingOf(i))
        return stuck(i);
    return success();
  }

  LogicalResult forEachHeld(Runner<E>::Visit visit) override {
    for (Stage &stage : stages)
      for (int64_t rank = 0; rank < stage.program->stageRanks; ++rank)
        if (failed(stage.program->collect(rank, visit)))
          return failure();
    return success();
  }

private:
  struct Stage {
    std::unique_ptr<StageProgram<E>> program;
    std::vector<exec::Action> actions;
    std::vector<std::vector<size_t>> queues; ///< numbers of actions; all in one queue in the order of the program
    std::vector<size_t> at;                  ///< how many of each queue have ended
    std::vector<bool> hasEnded;              ///< of each action
    bool runsStreams = false;                ///< then `after` counts

    void beginStep() {
      at.assign(queues.size(), 0);
      hasEnded.assign(actions.size(), false);
      program->memory.beginStep();
    }

    /// The action of a queue that is due, if what it comes after has ended.
    std::optional<size_t> next(size_t queue) {
      if (at[queue] == queues[queue].size())
        return std::nullopt;
      size_t number = queues[queue][at[queue]];
      auto isOver = [&](int64_t other) { return bool(hasEnded[other]); };
      return !runsStreams || llvm::all_of(actions[number].getAfter(), isOver) ? std::optional(number) : std::nullopt;
    }
  };

  /// An action that a stage can do next.
  struct Turn {
    size_t stage, queue, number;
    bool operator==(const Turn &) const = default;
  };

  std::vector<Turn> findTurns() {
    std::vector<Turn> turns;
    for (size_t stage = 0; stage < stages.size(); ++stage)
      for (size_t queue = 0; queue < stages[stage].queues.size(); ++queue)
        if (auto number = stages[stage].next(queue))
          turns.push_back({stage, queue, *number});
    return turns;
  }

  /// The first that stages can do now, but for the delayed one; that, where there is no other.
  FailureOr<bool> advanceOne(ArrayRef<Turn> turns) {
    isDelaying = order && order->delayed;
    for (int attempt = 0; attempt < 2; ++attempt, isDelaying = false) {
      for (const Turn &turn : turns)
        if (FailureOr<bool> went = advance(turn); failed(went) || *went)
          return went;
      if (!isDelaying)
        break;
    }
    return false;
  }

  exec::Action actionOf(const Turn &turn) const { return stages[turn.stage].actions[turn.number]; }

  bool isHeldBack(const Turn &turn) const {
    return isDelaying && order->delayed == std::pair(int64_t(turn.stage), int64_t(turn.number));
  }

  void leave(const Turn &turn) {
    Stage &stage = stages[turn.stage];
    ++stage.at[turn.queue];
    stage.hasEnded[turn.number] = true;
    stage.program->memory.end(turn.number);
  }

  /// The action of a stage with which another one's can meet now.
  template <class Op> std::optional<Turn> findPartner(size_t stage, llvm::function_ref<bool(Op)> isWanted) {
    for (size_t queue = 0; queue < stages[stage].queues.size(); ++queue)
      if (auto number = stages[stage].next(queue)) {
        Turn turn{stage, queue, *number};
        auto op = dyn_cast<Op>(*stages[stage].actions[*number]);
        if (op && isWanted(op) && !isHeldBack(turn))
          return turn;
      }
    return std::nullopt;
  }

  /// Does an action, if those that it needs are there.
  FailureOr<bool> advance(const Turn &turn) {
    exec::Action action = actionOf(turn);
    if (isHeldBack(turn) || isa<exec::ReceiveOp>(*action))
      return false; // the sender sees to it
    if (auto send = dyn_cast<exec::SendOp>(*action))
      return transfer(turn, send);
    if (auto reduce = dyn_cast<exec::ExchangeOp>(*action); reduce && !reduce.getGroup().getStages().empty())
      return reduceAcross(reduce);
    stages[turn.stage].program->memory.begin(turn.number);
    if (failed(stages[turn.stage].program->run(*action, now)))
      return failure();
    leave(turn);
    return true;
  }

  FailureOr<bool> transfer(const Turn &sender, exec::SendOp send) {
    size_t to = send.getPeer();
    if (to >= stages.size())
      return false;
    auto receiver = findPartner<exec::ReceiveOp>(to, [&](exec::ReceiveOp receive) {
      return receive.getMessage() == send.getMessage() && receive.getPeer() == sender.stage;
    });
    if (!receiver)
      return false;
    auto receive = cast<exec::ReceiveOp>(*actionOf(*receiver));
    if (receive.getBytes() != send.getBytes())
      return LogicalResult(receive.emitOpError() << "receives " << receive.getBytes() << " bytes of message "
                                                 << send.getMessage() << ", which has " << send.getBytes() << " bytes");
    StageProgram<E> &from = *stages[sender.stage].program, &into = *stages[to].program;
    from.memory.begin(sender.number), into.memory.begin(receiver->number);
    for (int64_t rank = 0; rank < from.stageRanks; ++rank)
      if (failed(into.memory.copyFrom({receive, labelOf(receive), rank}, receive.getPlace(), from.memory,
                                      {send, labelOf(send), rank}, send.getPlace(), send.getBytes())))
        return failure();
    leave(sender), leave(*receiver);
    return true;
  }

  /// An all_reduce over several stages, once all of them have come to it.
  FailureOr<bool> reduceAcross(exec::ExchangeOp reduce) {
    std::map<int64_t, Turn> meeting; // by stage
    for (int64_t other : reduce.getGroup().getStages().asArrayRef()) {
      auto same = other >= (int64_t)stages.size()
                      ? std::nullopt
                      : findPartner<exec::ExchangeOp>(other, [&](exec::ExchangeOp its) {
                          return its.getKind() == reduce.getKind() && its.getGroup() == reduce.getGroup() &&
                                 its.getCount() == reduce.getCount() && its.getType() == reduce.getType();
                        });
      if (!same)
        return false;
      meeting.emplace(other, *same);
    }
    for (auto [stage, turn] : meeting)
      stages[stage].program->memory.begin(turn.number);
    dist::GroupAttr group = reduce.getGroup();
    int64_t firstStage = meeting.begin()->first;
    dist::MeshAttr mesh = stages[firstStage].program->op.getMesh();
    for (int64_t rank = 0; rank < mesh.getStageRanks(); ++rank) {
      int64_t first = firstStage * mesh.getStageRanks() + rank;
      if (group.indexOf(mesh, first) != 0)
        continue;
      std::vector<Participant<E>> participants;
      for (int64_t member : group.members(mesh, first)) {
        const Turn &turn = meeting.at(mesh.ppOf(member));
        auto mine = cast<exec::ExchangeOp>(*actionOf(turn));
        participants.push_back(stages[turn.stage].program->participant(mine, member % mesh.getStageRanks()));
      }
      if (failed(exchange<E>(reduce.getExchange(), participants)))
        return failure();
    }
    for (auto [stage, turn] : meeting)
      leave(turn);
    return true;
  }

  /// The first action of a stage that has not ended.
  exec::Action waitingOf(size_t stage) {
    auto it = llvm::find(stages[stage].hasEnded, false);
    return it == stages[stage].hasEnded.end() ? exec::Action()
                                              : stages[stage].actions[it - stages[stage].hasEnded.begin()];
  }

  LogicalResult stuck(size_t first) {
    InFlightDiagnostic error = waitingOf(first)->emitOpError()
                               << "'" << waitingOf(first).getLabel() << "' of stage " << first << " waits forever";
    for (size_t i = 0; i < stages.size(); ++i)
      if (i != first && waitingOf(i))
        error.attachNote(waitingOf(i)->getLoc()) << "stage " << i << " waits at '" << waitingOf(i).getLabel() << "'";
    return error;
  }

  std::optional<Order> order;
  std::vector<Stage> stages, others; ///< of training, and of evaluation; those that run are `stages`
  bool isDelaying = false;           ///< whether the delayed action may not begin now
  int64_t now = 0;
};

} // namespace

namespace xlc::interpret {
template <class E>
std::unique_ptr<Runner<E>> makeProgram(ArrayRef<exec::ProgramOp> ops, const Model &model, const Source<E> &source,
                                       const Options &options, const std::optional<Order> &order,
                                       KernelResults<E> *known) {
  return std::make_unique<Program<E>>(ops, model, source, options, order, known);
}
template std::unique_ptr<Runner<double>> makeProgram(ArrayRef<exec::ProgramOp>, const Model &, const Source<double> &,
                                                     const Options &, const std::optional<Order> &,
                                                     KernelResults<double> *);
template std::unique_ptr<Runner<float>> makeProgram(ArrayRef<exec::ProgramOp>, const Model &, const Source<float> &,
                                                    const Options &, const std::optional<Order> &,
                                                    KernelResults<float> *);
template std::unique_ptr<Runner<Field>> makeProgram(ArrayRef<exec::ProgramOp>, const Model &, const Source<Field> &,
                                                    const Options &, const std::optional<Order> &,
                                                    KernelResults<Field> *);
} // namespace xlc::interpret
