// See RunChoices.h.
#include "RunChoices.h"

#include "Outputs.h"
#include "Plan/PlannedSchedule.h"
#include "xlc/Runtime/States.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {

double rateFactor(const Plan &plan, const Options &options) {
  if (!options.learningRate || plan.groups.empty())
    return 1;
  if (plan.groups[0]->lr == 0)
    throw Rejected("error: --lr cannot scale the learning rates of the plan: the rate of the first group is 0");
  return *options.learningRate / plan.groups[0]->lr;
}

RateSchedule scheduleOfRun(const Plan &plan, uint64_t steps) {
  RateSchedule schedule = scheduleOf(plan);
  schedule.setSteps(steps);
  return schedule;
}

uint64_t countSteps(const Plan &plan, const Options &options, const Data &data, const RunProgress &done) {
  if (options.evaluates || options.generate)
    return done.step;
  uint64_t rows = 0;
  if (__builtin_mul_overflow(data.rows(), options.epochs.value_or(1), &rows))
    throw Rejected(fmt::format("error: the total number of rows in {} epochs of {} rows is too large", *options.epochs,
                               data.rows()));
  uint64_t batch = globalBatch(plan), left = rows - std::min(rows, done.samples); // steps before had perhaps others
  return options.steps.value_or(std::max<uint64_t>(1, done.step + left / batch + (left % batch != 0)));
}

Overlap overlapOf(const Plan &plan, const Options &options) {
  if (!plan.gpu.empty() && options.overlap == Overlap::Threads)
    throw Rejected("error: --overlap threads is for CPUs: the streams of a GPU always run in parallel");
  Overlap planned = plan.overlap && !options.check ? Overlap::Threads : Overlap::Inline;
  return options.overlap.value_or(planned);
}

void checkGraph(const Plan &plan, const Options &options) {
  if (plan.gpu.empty() && options.graph == true)
    throw Rejected("error: --graph on is for GPUs: a CPU runs actions one by one");
}

DataChoice choiceOfRun(const Plan &plan, const Options &options, const Resumption &resumption) {
  DataChoice choice = choiceOf(plan, options);
  choice.seed = resumption.seed();
  return choice;
}

std::unique_ptr<const Data> openValidation(const Plan &plan, const Options &options) {
  const plan::EvaluationT *given = plan.evaluation.get();
  if (options.evaluates && !given)
    throw Rejected("error: --eval and --predict require a program with an evaluation: add 'eval: {}' to the spec");
  bool isChosen = !options.validationFolder.empty() || !options.validationFiles.empty();
  if (isChosen && !given)
    throw Rejected("error: --validation requires a program with an evaluation: add 'eval: {}' to the spec");
  if (!given || options.generate || (!options.evaluates && given->every_steps == 0 && !given->by_epoch))
    return nullptr;
  auto data = std::make_unique<const Data>(plan, validationChoiceOf(options), Scan::Small, plan::Purpose::evaluate);
  if (given->whole_batches && options.predictions.empty() && data->rows() < globalBatch(plan))
    throw Rejected(fmt::format(
        "error: this loss is defined only for whole global batches of {} rows, but the validation data have {} rows",
        globalBatch(plan), data->rows()));
  return data;
}

std::unique_ptr<Predictions> openPredictions(const Plan &plan, const Options &options, const Data *validation) {
  return options.predictions.empty() ? nullptr
                                     : std::make_unique<Predictions>(plan, options.predictions, validation->rows());
}

void checkObservers(const World &world, const Options &options) {
  if (options.checksNan && world.plan.loss_scale)
    throw Rejected("error: --check-nan does not work with a loss scale, because programs with a loss scale skip "
                   "steps that overflow; a step that ends the run is examined even without --check-nan");
  if (options.logNorms > 0 && world.isWired())
    throw Rejected("error: --log-norms requires all ranks on one host, but this run uses several hosts");
  if (options.logNorms > 0 && options.log.ends_with(".csv"))
    throw Rejected(fmt::format(
        "error: --log-norms writes lines of JSON, but --log {} is a CSV table: use a name such as run.jsonl",
        options.log));
}

void checkAverage(const Plan &plan, const Options &options) {
  bool isKept = std::ranges::any_of(plan.states, [](const auto &row) {
    return row->kind == plan::StateKind::Optimizer && row->name == kAverageState;
  });
  if (!options.saveAverage.empty() && !isKept)
    throw Rejected("error: --save-ema requires a program that averages its parameters: add 'ema: {}' to the spec");
}

SavedData describeOfRun(const Plan &plan, const Options &options, const Data &data, const Resumption &resumption) {
  if (checkpointFolder(plan, options).empty() && !resumption.checkpoint())
    return {};
  SavedData described = describeData(plan, data, choiceOfRun(plan, options, resumption));
  resumption.checkData(described);
  return described;
}

InitialValues openValues(const Plan &plan, const Options &options, const Resumption &resumption) {
  if (resumption.checkpoint())
    return {std::make_unique<CheckpointParameters>(plan, resumption.share()), true, resumption.seed()};
  if (isCheckpoint(options.init))
    return {std::make_unique<CheckpointParameters>(plan, std::make_shared<const Checkpoint>(options.init)), true,
            resumption.seed()};
  return openInitialValues(plan, options.init, besidePath(), resumption.seed());
}

DeviceSetup setupOf(const World &world, const Embedded &embedded, const Options &options) {
  bool isInline = options.check || options.overlap == Overlap::Inline;
  return {world.plan, embedded.codes, world.spins, embedded.images, embedded.imageCount, &world.ranksMeet(), isInline};
}

} // namespace xlc::runtime
