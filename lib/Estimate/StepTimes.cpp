// Repeatedly runs the earliest action that can begin, until none can. The dependencies of an action always precede it
// in the list of its rank, and stages meet in one order, so every action completes. The messages of a stage share its
// link, in the order in which they could begin. Computations share the device and are modeled as running one after the
// other: the gain from computing weight gradients beside other computations has not been measured.
#include "xlc/Estimate/StepTimes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xlc;
using exec::Stream;

namespace {

constexpr size_t kStreams = exec::getMaxEnumValForStream() + 1;

/// An action with what decides when it begins.
struct Event {
  exec::Action action;
  Stream stream = Stream::compute;
  double seconds = 0, tensor = 0;
  std::optional<graph::Role> role; ///< of a unit's run
  SmallVector<int64_t> stages;     ///< that meet for it, without this one
  int64_t message = -1;            ///< of a transfer
  double begin = -1, end = -1;
  int64_t cause = -1; ///< the action of this stage that it began after; -1: another stage, or nothing
};

/// One stage on its way through the step.
struct StageRun {
  std::vector<Event> events;
  std::array<std::vector<int64_t>, kStreams> queues;
  std::array<size_t, kStreams> next = {};
  int64_t lastMessage = -1; ///< that has been on the link

  bool isAtEnd(size_t queue) const { return next[queue] == queues[queue].size(); }
  int64_t head(size_t queue) const { return queues[queue][next[queue]]; }
};

Event readEvent(exec::Action action, Clock &clock, int64_t stage) {
  Event event;
  event.action = action;
  event.stream = exec::computes(action.getStream()) ? Stream::compute : action.getStream();
  llvm::TypeSwitch<Operation *>(action)
      .Case([&](exec::RunOp run) {
        const Clock::RunTime &time = clock.ofRun(run);
        event.seconds = time.total(), event.tensor = time.tensor;
        if (run.getRole() != graph::Role::U)
          event.role = run.getRole();
      })
      .Case([&](exec::ExchangeOp exchange) {
        event.seconds = clock.ofExchange(exchange);
        for (int64_t other : exchange.getGroup().getStages().asArrayRef())
          if (other != stage)
            event.stages.push_back(other);
      })
      .Case<exec::SendOp, exec::ReceiveOp>([&](auto transfer) {
        auto peer = int64_t(transfer.getPeer());
        event.seconds = clock.ofTransfer(stage, peer, transfer.getBytes());
        event.stages = {peer}, event.message = transfer.getMessage();
      });
  return event;
}

class Simulation {
public:
  Simulation(ArrayRef<exec::ProgramOp> programs, Clock &clock, RunOrder order) : order(order), clock(clock) {
    for (auto [stage, program] : llvm::enumerate(programs)) {
      StageRun &run = stages.emplace_back();
      for (auto action : exec::ProgramOp(program).getBody().front().getOps<exec::Action>()) {
        Event &event = run.events.emplace_back(readEvent(action, clock, int64_t(stage)));
        size_t queue = order == RunOrder::List ? 0 : size_t(event.stream);
        run.queues[queue].push_back(int64_t(run.events.size()) - 1);
      }
    }
  }

  void run() {
    std::vector<std::optional<Start>> next(stages.size());
    std::vector<bool> isKnown(stages.size(), false);
    while (true) {
      std::optional<size_t> earliest;
      for (size_t stage = 0; stage < stages.size(); ++stage) {
        if (!isKnown[stage])
          next[stage] = findStart(stage), isKnown[stage] = true;
        if (next[stage] && (!earliest || next[stage]->begin < next[*earliest]->begin))
          earliest = stage;
      }
      if (!earliest)
        return;
      SmallVector<size_t> moved = start(*next[*earliest]);
      for (size_t stage = 0; stage < stages.size(); ++stage)
        if (llvm::is_contained(moved, stage) || meetsAny(stages[stage], moved))
          isKnown[stage] = false;
    }
  }

  std::vector<StageTime> addUp() const {
    double step = 0, lastEnd = 0;
    for (const StageRun &stage : stages)
      for (const Event &event : stage.events) {
        step = std::max(step, event.end);
        lastEnd = event.role ? std::max(lastEnd, event.end) : lastEnd;
      }
    std::vector<StageTime> times;
    for (const StageRun &stage : stages) {
      StageTime &time = times.emplace_back(addUp(stage));
      time.step = step, time.lastEnd = lastEnd;
      time.waiting = std::max(0.0, step - time.compute - time.exposed());
    }
    return times;
  }

  std::vector<std::vector<TimedAction>> listActions() const {
    std::vector<std::vector<TimedAction>> lists;
    for (const StageRun &stage : stages) {
      std::vector<TimedAction> &list = lists.emplace_back();
      for (auto [number, event] : llvm::enumerate(stage.events)) {
        exec::Action action = event.action;
        auto run = dyn_cast<exec::RunOp>(action.getOperation());
        if (event.end > event.begin)
          list.push_back({number, action.getLabel().str(),
                          event.role ? std::optional<int64_t>(run.getMicroBatch()) : std::nullopt,
                          run ? std::optional(run.getRole()) : std::nullopt, event.stream, event.begin, event.end});
      }
    }
    return lists;
  }

private:
  /// One side of an action that could begin: the head of a queue, ready at a time after another action of its stage.
  struct Side {
    size_t stage, queue;
    double ready = 0;
    int64_t cause = -1;
  };
  struct Start {
    SmallVector<Side, 2> sides;
    double begin = 0;
  };

  /// As far as its own stage decides; none: not known yet.
  std::optional<Side> findSide(size_t stage, size_t queue) const {
    const StageRun &run = stages[stage];
    Side side{stage, queue};
    auto wait = [&](int64_t other) {
      if (run.events[other].end > side.ready)
        side.ready = run.events[other].end, side.cause = other;
    };
    if (run.next[queue] > 0)
      wait(run.queues[queue][run.next[queue] - 1]);
    const Event &event = run.events[run.head(queue)];
    if (event.stream != Stream::compute && event.seconds > 0 && run.lastMessage >= 0)
      wait(run.lastMessage);
    exec::Action action = event.action;
    for (int64_t other : action.getAfter()) {
      if (run.events[other].end < 0)
        return std::nullopt;
      wait(other);
    }
    return side;
  }

  /// The queue of another stage whose head is the other side of an event; none: it has not come to it.
  static std::optional<size_t> findMeeting(const StageRun &peer, const Event &event) {
    for (size_t queue = 0; queue < kStreams; ++queue) {
      if (peer.isAtEnd(queue))
        continue;
      const Event &other = peer.events[peer.head(queue)];
      exec::Action mine = event.action, its = other.action;
      bool meets = event.message >= 0 ? other.message == event.message
                                      : !other.stages.empty() && its.getLabel() == mine.getLabel();
      if (meets)
        return queue;
    }
    return std::nullopt;
  }

  std::optional<Start> findStart(size_t stage, size_t queue) const {
    std::optional<Side> mine = findSide(stage, queue);
    if (!mine)
      return std::nullopt;
    Start start{{*mine}, mine->ready};
    const Event &event = stages[stage].events[stages[stage].head(queue)];
    for (int64_t other : event.stages) {
      std::optional<size_t> meeting = findMeeting(stages[other], event);
      std::optional<Side> its = meeting ? findSide(size_t(other), *meeting) : std::nullopt;
      if (!its)
        return std::nullopt;
      start.sides.push_back(*its);
      start.begin = std::max(start.begin, its->ready);
    }
    return start;
  }

  /// The earliest of a stage.
  std::optional<Start> findStart(size_t stage) const {
    std::optional<Start> earliest;
    for (size_t queue = 0; queue < kStreams; ++queue) {
      std::optional<Start> start = stages[stage].isAtEnd(queue) ? std::nullopt : findStart(stage, queue);
      if (start && (!earliest || start->begin < earliest->begin))
        earliest = start;
    }
    return earliest;
  }

  /// Returns the stages that take part.
  SmallVector<size_t> start(const Start &start) {
    SmallVector<size_t> moved;
    for (const Side &side : start.sides) {
      StageRun &run = stages[side.stage];
      int64_t number = run.head(side.queue);
      Event &event = run.events[number];
      event.begin = start.begin, event.end = start.begin + event.seconds;
      event.cause = side.ready == start.begin ? side.cause : -1;
      if (event.stream != Stream::compute && event.seconds > 0)
        run.lastMessage = number;
      ++run.next[side.queue];
      moved.push_back(side.stage);
    }
    return moved;
  }

  static bool meetsAny(const StageRun &run, ArrayRef<size_t> moved) {
    for (size_t queue = 0; queue < kStreams; ++queue)
      if (!run.isAtEnd(queue))
        for (int64_t other : run.events[run.head(queue)].stages)
          if (llvm::is_contained(moved, size_t(other)))
            return true;
    return false;
  }

  StageTime addUp(const StageRun &stage) const {
    StageTime time;
    double now = 0;
    int64_t last = -1;
    for (auto [number, event] : llvm::enumerate(stage.events)) {
      if (event.seconds > 0 && event.stream != Stream::compute) {
        time.of(event.stream).predicted += event.seconds;
        if (order == RunOrder::List)
          time.of(event.stream).exposed += event.seconds;
      }
      if (last < 0 || event.end > stage.events[last].end)
        last = int64_t(number);
      if (event.stream != Stream::compute)
        continue;
      if (order == RunOrder::Streams)
        blame(stage, event.cause, now, event.begin, time);
      now = event.end;
      addRun(event, time);
    }
    if (order == RunOrder::Streams && last >= 0)
      blame(stage, last, now, stage.events[last].end, time);
    return time;
  }

  void addRun(const Event &event, StageTime &time) const {
    time.compute += event.seconds - event.tensor;
    if (auto run = dyn_cast<exec::RunOp>(exec::Action(event.action).getOperation()))
      for (auto [sum, seconds] : llvm::zip_equal(time.kernels, clock.ofRun(run).kernels))
        sum += seconds;
    time.tensor.predicted += event.tensor, time.tensor.exposed += event.tensor;
    if (!event.role)
      return;
    time.busy += event.seconds;
    time.begin = time.begin < 0 ? event.begin : time.begin;
    time.end = std::max(time.end, event.end);
  }

  /// Compute had nothing to do from one time to another because of an action, and of what that had begun after.
  static void blame(const StageRun &stage, int64_t action, double from, double until, StageTime &time) {
    for (; action >= 0 && until > from; action = stage.events[action].cause) {
      const Event &event = stage.events[action];
      double begin = std::max(from, event.begin);
      if (event.stream != Stream::compute && until > begin)
        time.of(event.stream).exposed += until - begin;
      until = std::min(until, begin);
    }
  }

  const RunOrder order;
  Clock &clock;
  std::vector<StageRun> stages;
};

} // namespace

double StageTime::exposed() const {
  double sum = tensor.exposed;
  for (const MessageTime &kind : messages)
    sum += kind.exposed;
  return sum;
}

std::vector<StageTime> xlc::timeStages(ArrayRef<exec::ProgramOp> programs, Clock &clock, RunOrder order,
                                       std::vector<std::vector<TimedAction>> *actions) {
  Simulation simulation(programs, clock, order);
  simulation.run();
  if (actions)
    *actions = simulation.listActions();
  return simulation.addUp();
}

Device xlc::workAlone(Quantity flopsPerByte) {
  Device device;
  device.products = {1, 1, 1};
  device.bandwidth = 1 / double(flopsPerByte);
  return device;
}
