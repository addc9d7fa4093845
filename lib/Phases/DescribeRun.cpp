// Describes a run in the embedded plan: its data, its evaluation steps, and the location of its checkpoints.
#include "DescribePlan.h"
#include "xlc/Estimate/ReadAhead.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace xlc;

namespace {

/// Empty where there is none, or where the working directory is gone.
std::string absolute(StringRef path) {
  llvm::SmallString<128> whole = path;
  return path.empty() || llvm::sys::fs::make_absolute(whole) ? "" : whole.str().str();
}

/// Where the rows of an input come from, by the name of its data.
plan::InputDataT describeSource(const Spec &spec, const RowsSpec &rows, StringRef name) {
  plan::InputDataT made;
  made.path = dataPath(rows, name);
  if (!rows.stream)
    return made;
  if (name == rows.stream->input)
    made.source = plan::InputSource::Tokens;
  else if (name == rows.stream->labels)
    made.source = spec.predictsNextToken(*rows.stream) ? plan::InputSource::NextTokens : plan::InputSource::Tokens;
  else if (auto number = rows.stream->fill.find(name.str()); number != rows.stream->fill.end())
    made.source = plan::InputSource::Fill, made.fill = number->second;
  return made;
}

plan::TokenType typeOf(TokenStreamSpec::Type type) {
  switch (type) {
  case TokenStreamSpec::Type::Auto:
    return plan::TokenType::Auto;
  case TokenStreamSpec::Type::U8:
    return plan::TokenType::U8;
  case TokenStreamSpec::Type::U16:
    return plan::TokenType::U16;
  case TokenStreamSpec::Type::U32:
    return plan::TokenType::U32;
  case TokenStreamSpec::Type::I32:
    return plan::TokenType::I32;
  }
  llvm_unreachable("all types are named");
}

/// Of the inputs of the plan.
std::unique_ptr<plan::DatasetT> describeRows(const Spec &spec, const RowsSpec &rows, const plan::PlanT &plan) {
  auto dataset = std::make_unique<plan::DatasetT>();
  dataset->folder = absolute(rows.folder);
  for (const auto &input : plan.inputs)
    dataset->inputs.push_back(std::make_unique<plan::InputDataT>(
        input->samples ? plan::InputDataT()
                       : describeSource(spec, rows, input->whole_of.empty() ? input->name : input->whole_of)));
  if (!rows.stream)
    return dataset;
  dataset->stream = std::make_unique<plan::TokenStreamT>();
  dataset->stream->type = typeOf(rows.stream->type);
  for (const std::string &file : rows.stream->files)
    dataset->stream->files.push_back(absolute(file));
  return dataset;
}

} // namespace

std::string xlc::dataPath(const RowsSpec &rows, StringRef input) {
  llvm::SmallString<128> path;
  if (auto it = rows.files.find(input.str()); it != rows.files.end())
    path = it->second;
  else if (!rows.folder.empty() && !input.contains('/'))
    llvm::sys::path::append(path, rows.folder, input + ".npy");
  return absolute(path);
}

void xlc::describeData(const Compilation &compilation, plan::PlanT &plan) {
  const DataSpec &data = compilation.spec.data;
  plan.dataset = describeRows(compilation.spec, data.train, plan);
  plan.dataset->shuffle = data.shuffles, plan.dataset->drop = data.end == DataSpec::End::Drop;
  plan.dataset->seed = data.seed;
  for (auto program : exec::programsOf(*compilation.module))
    plan.dataset->ahead =
        std::max<uint64_t>(plan.dataset->ahead, readAheadOf(program, compilation.spec.ranks()).bytes());
  if (compilation.spec.eval)
    plan.validation = describeRows(compilation.spec, data.validation, plan);
}

void xlc::describeEvaluation(const Spec &spec, ModuleOp module, plan::PlanT &plan) {
  if (!spec.eval)
    return;
  const EvalSpec &given = *spec.eval;
  plan.evaluation = std::make_unique<plan::EvaluationT>();
  for (const runtime::Metric &metric : given.metrics)
    plan.evaluation->metrics.push_back(metric.name());
  if (given.average)
    plan.evaluation->average = uint8_t(*given.average);
  plan.evaluation->every_steps = (uint64_t)given.everySteps.value_or(0), plan.evaluation->by_epoch = given.everyEpoch;
  EvalSpec::Best judged = given.best.value_or(EvalSpec::Best());
  plan.evaluation->judged = judged.metric, plan.evaluation->keeps_best = given.best.has_value();
  plan.evaluation->smallest = judged.isSmallest.value_or(runtime::findMetric(judged.metric)->row().isBestSmall);
  plan.evaluation->whole_batches = module->hasAttr(kWholeBatches);
  if (given.stop)
    plan.evaluation->patience = (uint64_t)given.stop->patience, plan.evaluation->min_delta = given.stop->minDelta;
}

void xlc::describeCheckpoints(const Spec &spec, plan::PlanT &plan) {
  if (!spec.checkpoint)
    return;
  const CheckpointSpec &given = *spec.checkpoint;
  plan.checkpoints = std::make_unique<plan::CheckpointsT>();
  plan.checkpoints->dir = absolute(given.dir);
  plan.checkpoints->every_steps = (uint64_t)given.everySteps.value_or(0);
  plan.checkpoints->every_seconds = given.everySeconds.value_or(0);
  plan.checkpoints->keep = (uint64_t)given.keep, plan.checkpoints->keep_every = (uint64_t)given.keepEvery.value_or(0);
  plan.checkpoints->stops = given.stops;
  plan.checkpoints->compare = given.compare.value_or(spec.targetFacts().isHost);
  using Background = CheckpointSpec::Background;
  switch (given.background.value_or(spec.targetFacts().isHost ? Background::Direct : Background::Copy)) {
  case Background::Off:
    plan.checkpoints->background = plan::Background::Off;
    break;
  case Background::Direct:
    plan.checkpoints->background = plan::Background::Direct;
    break;
  case Background::Copy:
    plan.checkpoints->background = plan::Background::Copy;
    break;
  }
}
