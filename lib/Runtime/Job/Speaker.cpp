// See Speaker.h.
#include "Speaker.h"

#include "Files/StandardStreams.h"
#include "Stats.h"
#include "TraceFile.h"
#include "xlc/Runtime/Limits.h"

#include <fmt/format.h>

#include <cmath>

namespace xlc::runtime {

int findPublisher(const Plan &plan) {
  auto hasBoth = [](const auto &program) { return program->loss && program->norm; };
  auto first = std::find_if(plan.programs.begin(), plan.programs.end(), hasBoth);
  return (int)((first - plan.programs.begin()) * stageRanks(plan));
}

StepResult resultOf(uint64_t step, const Executor &executor) {
  StepResult result{step, executor.lossOf(step), executor.normOf(step), 0, 0, 0, {}};
  if (const LossScale *scale = executor.lossScale())
    result.scale = {executor.usedScale(), scale->skippedInRow() > 0, scale->skipped(), scale->skippedInRow(),
                    scale->isSpent()};
  return result;
}

void Speaker::endStep(uint64_t step, int64_t begin, double rateFactor) {
  Board &board = world.board();
  world.waiter.waitWhile(board.shown, (uint32_t)(step - 1), world.pulses());
  StepResult result = board.result;
  result.seconds = (double)(now() - begin) * 1e-9;
  result.learningRate = plan.groups.empty() ? 0 : plan.groups[0]->lr * rateFactor;
  result.samplesPerSecond = (double)globalBatch(plan) / result.seconds;
  world.pulses()->set(Pulse::Speaks);
  progress.show(result);
  world.pulses()->set(Pulse::Works);
  shown = step;
  judge(result);
}

void Speaker::judge(const StepResult &result) {
  const StepResult::Scale *scale = result.scale ? &*result.scale : nullptr;
  bool isSkipped = scale && scale->isSkipped;
  if (!isSkipped && std::isfinite(result.loss) && std::isfinite(result.norm))
    return;
  const char *what = std::isfinite(result.loss) ? "gradient norm" : "loss";
  std::string why =
                  fmt::format("the {} is not finite: {}", what, std::isfinite(result.loss) ? result.norm : result.loss),
              bad = data.findNaN(result.step - 1);
  if (!bad.empty())
    why += "; " + bad;
  else if (isSkipped && scale->isSpent)
    why += fmt::format(", and the loss scale is at its smallest, {} ({} steps in a row were skipped)", scale->factor,
                       scale->skippedInRow);
  else if (isSkipped && scale->skippedInRow >= kMostSkippedInRow)
    why += fmt::format(", in the {}th step in a row that is skipped, with a loss scale of {}", kMostSkippedInRow,
                       scale->factor);
  else if (isSkipped)
    return;
  world.stop().raise(Exit::NonFinite, fmt::format("error: step {}: {}", result.step, why));
}

Exit Speaker::finish(const InitialValues &values, const ReadArena &read, std::vector<OutsideBytes> outside) {
  if (shown < steps) {
    clearBar();
    say(fmt::format("stopped after step {}{}", shown, options.save.empty() ? "" : ", saves " + options.save));
  }
  if (!options.save.empty())
    saveParameters(plan, values, read, options.save);
  UsedResources used{.steps = shown, .outside = std::move(outside)};
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
  std::string disagreement = findDisagreement(plan, used);
  if (disagreement.empty())
    return Exit::Done;
  clearBar();
  say("error: " + disagreement);
  return Exit::Internal;
}

} // namespace xlc::runtime
