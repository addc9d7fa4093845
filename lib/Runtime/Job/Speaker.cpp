// See Speaker.h.
#include "Speaker.h"

#include "Files/StandardStreams.h"
#include "Stats.h"
#include "TraceFile.h"
#include "xlc/Runtime/Limits.h"
#include "xlc/Runtime/States.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>

namespace xlc::runtime {

int findPublisher(const Plan &plan) {
  auto hasBoth = [&](const auto &program) {
    return program->purpose == plan::Purpose::train &&
           findNumber(plan, *program, plan::StateKind::Result, kLossResult) &&
           findNumber(plan, *program, plan::StateKind::Result, kNormResult);
  };
  auto first = std::find_if(plan.programs.begin(), plan.programs.end(), hasBoth);
  return (int)((*first)->stage * stageRanks(plan));
}

namespace {

/// What is not a number is shown without a sign.
float dropSign(float value) { return std::isnan(value) ? std::abs(value) : value; }

} // namespace

StepResult resultOf(uint64_t step, const Executor &executor) {
  StepResult result{
      step, dropSign(executor.lossOf(step)), dropSign(executor.normOf(step)), executor.rateOf(step), 0, 0, 0, {}};
  if (const LossScale *scale = executor.lossScale())
    result.scale = {executor.usedScale(), scale->skippedInRow() > 0, scale->skipped(), scale->skippedInRow(),
                    scale->isSpent()};
  return result;
}

void Speaker::begin(uint64_t done, uint64_t count, const std::string &note) {
  steps = count, before = shown = ran = done;
  if (!note.empty())
    say(note);
  progress.begin(data, done, count);
}

void Speaker::endStep(uint64_t step, int64_t begin, int64_t waited) {
  Board &board = world.board();
  world.waiter.waitWhile(board.shown, (uint32_t)(step - 1), world.pulses());
  ran = step;
  if (!failure.empty())
    return; // it was on its way, and applied nothing
  StepResult result = board.result;
  result.seconds = (double)(now() - begin) * 1e-9;
  result.samplesPerSecond = (double)globalBatch(plan) / result.seconds;
  result.checkpointSeconds = (double)waited * 1e-9;
  world.pulses()->set(Pulse::Speaks);
  progress.show(result);
  world.pulses()->set(Pulse::Works);
  shown = step;
  judge(result);
}

void Speaker::showEvaluation(const EvaluationResult &result, const Judge &judge) {
  world.pulses()->set(Pulse::Speaks);
  progress.show(result);
  if (!std::isfinite(result.sums.loss)) {
    sayAboveBar(fmt::format("warning: the loss of this evaluation is not finite{}{}", result.bad.empty() ? "" : "; ",
                            result.bad));
  }
  if (judge.ends()) {
    sayAboveBar(fmt::format("note: {} evaluations in a row did not improve {}; the best value, from step {}, is {:.8g}",
                            judge.state()->notBetter, plan.evaluation->judged, judge.state()->bestStep,
                            judge.state()->best));
  }
  world.pulses()->set(Pulse::Works);
}

void Speaker::tellStopped(uint64_t step) {
  clearBar();
  if (options.evaluates)
    return say(fmt::format("stopped before all rows were evaluated{}",
                           options.predictions.empty() ? "" : "; no predictions were written"));
  say(fmt::format("note: the evaluation after step {} was stopped; a resumed run begins with this evaluation", step));
}

void Speaker::judge(const StepResult &result) {
  const StepResult::Scale *scale = result.scale ? &*result.scale : nullptr;
  if (std::isfinite(result.norm) && std::isfinite(result.loss))
    return;
  bool overflows = scale && !std::isfinite(result.norm);
  const char *what = std::isfinite(result.loss) ? "gradient norm" : "loss";
  std::string why =
                  fmt::format("the {} is not finite: {}", what, std::isfinite(result.loss) ? result.norm : result.loss),
              bad = data.findNaN(result.step - 1);
  if (!bad.empty())
    why += "; " + bad;
  else if (overflows && scale->isSpent)
    why += fmt::format(", and the loss scale is at its minimum, {} ({} steps in a row were skipped)", scale->factor,
                       scale->skippedInRow);
  else if (overflows && scale->skippedInRow >= kMostSkippedInRow)
    why +=
        fmt::format(", in the {}th skipped step in a row, with a loss scale of {}", kMostSkippedInRow, scale->factor);
  else if (overflows)
    return;
  failure = fmt::format("error: step {}: {}", result.step, why), isSkipped = true;
  endBehind(result.step);
}

void Speaker::spoil(uint64_t step) {
  if (failure.empty())
    failure = fmt::format("error: step {}: a value is not finite", step);
  endBehind(step);
}

void Speaker::endBehind(uint64_t step) {
  Request::raise(world.request().isSpoiled, step);
  Request::raise(world.request().lastStep, step);
}

std::string Speaker::placeOf(const std::string &path) const {
  bool isKept = !failure.empty() && !path.empty() && std::filesystem::exists(path); // it is perhaps of a better run
  return isKept ? fmt::format("{}.step-{}", path, shown) : path;
}

Exit Speaker::finish(const InitialValues &values, const ReadArena &read, std::vector<OutsideBytes> outside) {
  const std::pair<std::string, Saved> saved[] = {{placeOf(options.save), Saved::All},
                                                 {placeOf(options.saveTrained), Saved::Trained},
                                                 {placeOf(options.saveAverage), Saved::Average}};
  std::vector<std::string> paths;
  for (const auto &[path, which] : saved)
    if (!path.empty())
      paths.push_back(path);
  std::string saves = paths.empty() ? "" : fmt::format(", saves {}", fmt::join(paths, ", "));
  if (!failure.empty() || shown < steps)
    clearBar();
  if (!failure.empty())
    say(failure);
  if (failure.empty() ? shown < steps : !saves.empty())
    say(fmt::format("stopped after step {}{}{}", shown, isSkipped ? ", which was skipped" : "", saves));
  for (const auto &[path, which] : saved)
    if (!path.empty())
      saveParameters(plan, which, values, read, path);
  UsedResources used{.steps = ran - before, .outside = std::move(outside)};
  std::vector<RankTrace> traces;
  for (int rank = 0; rank < (int)rankCount(plan); ++rank) {
    used.add(world.reportOf(rank));
    if (world.isTraced())
      traces.push_back(world.traceOf(rank));
  }
  if (world.isTraced())
    writeTrace(options.profile, plan, traces);
  if (!options.stats.empty())
    writeStats(options.stats, plan, used);
  progress.checkWritten();
  std::string disagreement = used.steps ? findDisagreement(plan, used) : "";
  if (disagreement.empty())
    return failure.empty() ? Exit::Done : Exit::NonFinite;
  sayAboveBar("error: " + disagreement);
  return Exit::Internal;
}

} // namespace xlc::runtime
