// See RankSteps.h.
#include "RankSteps.h"

#include "Faults.h"
#include "Files/StandardStreams.h"
#include "Speaker.h"
#include "Stats.h"

namespace xlc::runtime {

RankSteps::RankSteps(CrewState &crew, int rank)
    : crew(crew), rank(rank), self(crew.own(rank)), pulse(crew.pulsesOf(rank)), fabric(crew.fabric()),
      request(crew.world.request()), done(crew.resumption.progress().step), lag(self.executor->lag()), step(done),
      ended(done), begin(now()) {}

void RankSteps::run() {
  fabric.meet(pulse);
  if (crew.options.checkpointsNow)
    writeCheckpoint(/*isLast=*/true);
  begin = now();
  isTraining() ? evaluateAnew() : replaceTraining();
  while (isTraining() && !isLast())
    train();
  endUntil(step);
  crew.saving.complete(rank, pulse);
  self.executor->endTrace();
  if (self.evaluation)
    self.evaluation->executor().endTrace();
  reportEnd();
  fabric.meet(pulse);
  examineFailedStep();
  self.device->endSteps();
  fabric.meet(pulse); // nothing is saved where a device fails until then
  pulse->set(Pulse::Idle);
}

bool RankSteps::isLast() const {
  uint64_t last = request.lastStep.load(std::memory_order_acquire);
  return step >= crew.steps || (last && step >= last);
}

void RankSteps::replaceTraining() {
  if (!crew.generation)
    return evaluate();
  self.running = self.generator.get();
  crew.generation->run(
      {rank, rank == crew.share.first, *self.generator, fabric, pulse, request, [this] { return isStopped(); }},
      [&](const std::string &text) { crew.speaker->print(text); });
}

void RankSteps::train() {
  self.running = self.executor.get();
  self.executor->runStep(++step);
  Request::raise(request.signal, (uint64_t)crew.signal.load(std::memory_order_relaxed));
  if (request.signal != 0)
    Request::raise(request.lastStep, step);
  crew.saving.ask(rank, step, rank == crew.share.first);
  endUntil(std::max(step, done + lag) - lag);
  fabric.meet(pulse);
  logNorms();
  if (crew.options.checksNan) {
    bool isFound = request.found != 0;
    fabric.meet(pulse); // all have read it before a rank finds one in the next step
    if (isFound)
      tellFirst(step);
  }
  flipBit(crew.plan, crew.options.fault, rank, step, crew.memoryOf(rank));
  evaluateIfDue();
  crew.saving.completeAfter(rank, step, pulse);
  writeCheckpointIfDue();
}

void RankSteps::logNorms() {
  if (crew.options.logNorms == 0 || step % crew.options.logNorms != 0)
    return;
  endUntil(step);
  if (rank == 0)
    crew.speaker->log(crew.norms.describe(step));
  fabric.meet(pulse); // the next ones are written where these were
}

void RankSteps::evaluateIfDue() {
  if (!crew.validation || !Evaluation::isDue(crew.plan, crew.resumption.progress(), step, crew.data.rows()))
    return;
  endUntil(step);
  fabric.meet(pulse); // all know whether its numbers are of use
  if (request.isSpoiled == 0)
    evaluate();
  begin = now();
}

void RankSteps::evaluateAnew() {
  if (!crew.resumption.checkpoint() || !crew.validation)
    return;
  const std::optional<EvaluationState> &known = self.evaluation->judge.state();
  if ((known && known->lastStep == done) ||
      !Evaluation::isDue(crew.plan, crew.resumption.progress(), done, crew.data.rows()))
    return;
  evaluate();
  begin = now();
}

bool RankSteps::isStopped() {
  Request::raise(request.signal, (uint64_t)crew.signal.load(std::memory_order_relaxed));
  fabric.meet(pulse);
  bool is = request.signal != 0;
  fabric.meet(pulse); // all have read it before a rank raises it in what follows
  return is;
}

void RankSteps::evaluate() {
  Evaluation &evaluation = *self.evaluation;
  Predictions *predictions = crew.predictions.get();
  self.running = &evaluation.executor();
  if (predictions && rank == 0)
    predictions->create();
  fabric.meet(pulse);
  if (predictions && rank == crew.share.first)
    predictions->open();
  fabric.meet(pulse);
  std::optional<EvaluationResult> result = evaluation.run(
      step, predictions ? Evaluation::Rows::All : Evaluation::Rows::Counted, [this] { return isStopped(); });
  self.running = self.executor.get();
  if (!result) {
    Request::raise(request.lastStep, std::max<uint64_t>(step, 1));
    if (rank == 0)
      crew.speaker->tellStopped(step);
    return;
  }
  if (result->isBest && crew.plan.evaluation->keeps_best && crew.saving.isOn() && isTraining())
    Request::raise(request.checkpoint, step + 1);
  if (evaluation.judge.ends()) // all ranks have the same numbers
    Request::raise(request.lastStep, std::max<uint64_t>(step, 1));
  if (rank == 0)
    crew.speaker->showEvaluation(*result, evaluation.judge);
  fabric.meet(pulse);
  if (predictions && rank == 0)
    say(predictions->publish());
}

void RankSteps::writeCheckpointIfDue() {
  if (!crew.saving.isDue(step, isLast()))
    return;
  if (lag) { // whether the step itself is of use is known when its numbers are
    endUntil(step);
    fabric.meet(pulse);
  }
  if (crew.saving.isDue(step, isLast()))
    writeCheckpoint(isLast());
}

void RankSteps::writeCheckpoint(bool isLast) {
  const RunProgress done = crew.resumption.progress();
  const LossScale *scale = self.executor->lossScale();
  uint64_t more = step - done.step, skipped = scale ? scale->skipped() : done.step - done.applied;
  RunProgress progress{step, step - skipped, done.samples + more * globalBatch(crew.plan)};
  std::optional<LossScaleState> state = scale ? std::optional(scale->state()) : std::nullopt;
  std::optional<EvaluationState> evaluation =
      self.evaluation ? self.evaluation->judge.state() : crew.resumption.evaluation();
  crew.saving.write(rank, {progress, crew.resumption.seed(), state, &crew.described, evaluation}, crew.values,
                    crew.memoryOf(rank), pulse, isLast);
}

void RankSteps::endUntil(uint64_t last) {
  while (ended < last)
    endStep(++ended);
}

/// The time of the next step begins when this one is shown: what this rank waits for others at the end of a step
/// belongs to the next one.
void RankSteps::endStep(uint64_t number) {
  pulse->set(Pulse::Works); // a device that hangs is waited for here
  if (rank == findPublisher(crew.plan))
    crew.company->publish(resultOf(number, *self.executor));
  if (rank == 0)
    crew.speaker->endStep(number, begin, crew.saving.takeWaited());
  begin = now();
}

void RankSteps::reportEnd() {
  RankReport &report = crew.world.reportOf(rank);
  report.allocatedBytes = self.arena.bytes;
  report.bytesAhead = crew.prefetch.bytesOf(rank), report.rowSum = crew.rows.of(rank);
  report.peakSlots = self.executor->peakSlots(), report.moved = self.executor->moved();
  if (rank == crew.share.first) // of all ranks of the process
    report.peakResidentBytes = readPeakResident();
}

/// With --check-nan each step was observed when it ran.
void RankSteps::examineFailedStep() {
  uint64_t failed = request.isSpoiled;
  if (failed == 0 || !crew.options.examines || crew.options.checksNan)
    return;
  if (rank == 0)
    say(crew.examination.announce(failed));
  self.executor->repeatStep(failed, crew.data, crew.examination);
  fabric.meet(pulse);
  tellFirst(failed);
}

void RankSteps::tellFirst(uint64_t number) {
  clearBar();
  if (std::string what = crew.examination.describe(rank, number); !what.empty())
    say(what);
  if (rank == 0 && request.found != 0)
    crew.speaker->spoil(number);
  fabric.meet(pulse);
}

} // namespace xlc::runtime
