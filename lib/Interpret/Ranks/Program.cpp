// Runs the `exec` programs of all pipeline stages in one process.
//
// Stages take turns: each goes on by itself until it comes to an action that it does with other stages, and waits
// there until they have come too. A transfer is such a rendezvous of two, a collective of several stages one of more.
// Stages that all wait, for one another, are an error that names what each waits at.
#include "Partitioned.h"
#include "StageProgram.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

namespace {

template <class E> class Program : public Runner<E> {
public:
  Program(ArrayRef<exec::ProgramOp> ops, const Model &model, const Source<E> &source, const Options &options) {
    for (exec::ProgramOp op : ops) {
      stages.push_back(std::make_unique<StageProgram<E>>(op, model, source, options));
      lists.emplace_back();
      for (Operation &action : op.getBody().front())
        if (!isa<exec::BufferOp>(action))
          lists.back().push_back(&action);
    }
  }

  LogicalResult step(int64_t t) override {
    if (t == 1)
      for (auto &stage : stages)
        if (failed(stage->initialize()))
          return failure();
    now = t;
    at.assign(stages.size(), 0);
    for (bool isMoving = true; isMoving;) {
      isMoving = false;
      for (size_t i = 0; i < stages.size(); ++i)
        while (next(i)) {
          FailureOr<bool> went = advance(i);
          if (failed(went))
            return failure();
          if (!*went)
            break;
          isMoving = true;
        }
    }
    for (size_t i = 0; i < stages.size(); ++i)
      if (next(i))
        return stuck(i);
    return success();
  }

  LogicalResult forEachHeld(Runner<E>::Visit visit) override {
    for (auto &stage : stages)
      for (int64_t rank = 0; rank < stage->stageRanks; ++rank)
        if (failed(stage->collect(rank, visit)))
          return failure();
    return success();
  }

private:
  Operation *next(size_t stage) const { return at[stage] < lists[stage].size() ? lists[stage][at[stage]] : nullptr; }

  /// The action of a stage is done.
  void leave(size_t stage) { stages[stage]->memory.expire(at[stage]++); }

  /// Does the next action of a stage, if those that it needs are there.
  FailureOr<bool> advance(size_t stage) {
    Operation *action = next(stage);
    if (isa<exec::ReceiveOp>(action))
      return false; // the sender sees to it
    if (auto send = dyn_cast<exec::SendOp>(action))
      return transfer(stage, send);
    if (auto reduce = dyn_cast<exec::ExchangeOp>(action); reduce && !reduce.getGroup().getStages().empty())
      return reduceAcross(reduce);
    if (failed(stages[stage]->run(*action, now)))
      return failure();
    leave(stage);
    return true;
  }

  FailureOr<bool> transfer(size_t from, exec::SendOp send) {
    size_t to = send.getPeer();
    auto receive = to < stages.size() ? dyn_cast_or_null<exec::ReceiveOp>(next(to)) : exec::ReceiveOp();
    if (!receive || receive.getMessage() != send.getMessage() || receive.getPeer() != from)
      return false;
    if (receive.getBytes() != send.getBytes())
      return LogicalResult(receive.emitOpError() << "receives " << receive.getBytes() << " bytes of message "
                                                 << send.getMessage() << ", which has " << send.getBytes());
    for (int64_t rank = 0; rank < stages[from]->stageRanks; ++rank)
      if (failed(stages[to]->memory.copyFrom({receive, labelOf(receive), rank}, receive.getPlace(),
                                             stages[from]->memory, {send, labelOf(send), rank}, send.getPlace(),
                                             send.getBytes())))
        return failure();
    leave(from), leave(to);
    return true;
  }

  /// An all_reduce over several stages, once all of them have come to it.
  FailureOr<bool> reduceAcross(exec::ExchangeOp reduce) {
    ArrayRef<int64_t> taking = reduce.getGroup().getStages();
    for (int64_t other : taking) {
      auto same = other < (int64_t)stages.size() ? dyn_cast_or_null<exec::ExchangeOp>(next(other)) : exec::ExchangeOp();
      if (!same || same.getKind() != reduce.getKind() || same.getGroup() != reduce.getGroup() ||
          same.getCount() != reduce.getCount() || same.getType() != reduce.getType())
        return false;
    }
    dist::GroupAttr group = reduce.getGroup();
    dist::MeshAttr mesh = stages[taking[0]]->op.getMesh();
    for (int64_t rank = 0; rank < mesh.getStageRanks(); ++rank) {
      int64_t first = taking[0] * mesh.getStageRanks() + rank;
      if (group.indexOf(mesh, first) != 0)
        continue;
      std::vector<Participant<E>> participants;
      for (int64_t member : group.members(mesh, first)) {
        StageProgram<E> &stage = *stages[mesh.ppOf(member)];
        auto mine = cast<exec::ExchangeOp>(next(mesh.ppOf(member)));
        participants.push_back(stage.participant(mine, member % mesh.getStageRanks()));
      }
      if (failed(exchange<E>(reduce.getExchange(), participants)))
        return failure();
    }
    for (int64_t other : taking)
      leave(other);
    return true;
  }

  LogicalResult stuck(size_t first) {
    InFlightDiagnostic error = next(first)->emitOpError()
                               << "'" << labelOf(next(first)) << "' of stage " << first << " waits for ever";
    for (size_t i = 0; i < stages.size(); ++i)
      if (i != first && next(i))
        error.attachNote(next(i)->getLoc()) << "stage " << i << " waits at '" << labelOf(next(i)) << "'";
    return error;
  }

  std::vector<std::unique_ptr<StageProgram<E>>> stages;
  std::vector<std::vector<Operation *>> lists; ///< the actions of each stage
  std::vector<size_t> at;                      ///< how many of them are done
  int64_t now = 0;
};

} // namespace

namespace xlc::interpret {
template <class E>
std::unique_ptr<Runner<E>> makeProgram(ArrayRef<exec::ProgramOp> ops, const Model &model, const Source<E> &source,
                                       const Options &options) {
  return std::make_unique<Program<E>>(ops, model, source, options);
}
template std::unique_ptr<Runner<double>> makeProgram(ArrayRef<exec::ProgramOp>, const Model &, const Source<double> &,
                                                     const Options &);
template std::unique_ptr<Runner<float>> makeProgram(ArrayRef<exec::ProgramOp>, const Model &, const Source<float> &,
                                                    const Options &);
template std::unique_ptr<Runner<Field>> makeProgram(ArrayRef<exec::ProgramOp>, const Model &, const Source<Field> &,
                                                    const Options &);
} // namespace xlc::interpret
