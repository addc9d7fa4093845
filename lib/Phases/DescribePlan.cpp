// What the embedded plan holds beside the `exec` program: names, shapes and initial values of parameters, hyper-
// parameters, inputs, messages in bytes. From the compilation, one table at a time.
#include "DescribePlan.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/Schedule.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Estimate/ReadAhead.h"
#include "xlc/Estimate/Traffic.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Phases/PlanOfStates.h"
#include "xlc/Runtime/Kernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace xlc;

namespace {

/// Where the initial value comes from; `init: random` draws all but scales of norms and biases.
void describeInit(const ParameterSource &source, const InitSpec &init, plan::ParameterT &made) {
  if (init.from != InitSpec::From::Random) {
    made.init = plan::Init::File;
    return;
  }
  made.init = source.isNormScale ? plan::Init::Ones : source.isBias ? plan::Init::Zeros : plan::Init::Normal;
  made.std = init.std;
}

plan::Extent extentOf(sched::Extent extent) {
  return extent == sched::Extent::shard ? plan::Extent::Shard : plan::Extent::Whole;
}

/// Buckets, by name for the programs of the stages, and their members' homes in them.
void describeBuckets(const Compilation &compilation, dist::MeshAttr mesh, plan::PlanT &plan) {
  struct Home {
    unsigned bucket;
    int64_t offset, elements;
    dist::LayoutAttr layout;
  };
  llvm::StringMap<Home> homes;
  for (auto bucket : ModuleOp(*compilation.module).getOps<sched::BucketOp>()) {
    for (auto [i, member] : llvm::enumerate(bucket.getMembers().getAsRange<StringAttr>()))
      homes[member.getValue()] = {(unsigned)plan.buckets.size(), bucket.getOffsets()[i], bucket.getSizes()[i],
                                  sched::getLayout(bucket, i)};
    auto made = std::make_unique<plan::BucketT>();
    made->name = bucket.getSymName().str(), made->elements = bucket.getElements(), made->group = bucket.getGroup();
    made->shard_elements = bucket.getElements() / mesh.getShards();
    made->updates = extentOf(bucket.getStates()), made->gradient = elementOf(bucket.getTypeOfGradients());
    plan.buckets.push_back(std::move(made));
  }
  for (const ParameterSource &source : compilation.parameters) {
    Home home = homes.lookup(source.name);
    auto made = std::make_unique<plan::ParameterT>();
    made->name = source.name, made->ties = source.ties, made->shape.assign(source.shape.begin(), source.shape.end());
    made->bucket = home.bucket, made->offset = home.offset, made->elements = home.elements;
    if (home.layout) {
      made->layout = std::make_unique<plan::LayoutT>();
      made->layout->dim = home.layout.getDim(), made->layout->outer = home.layout.getOuter();
      made->layout->group = groupOf(plan, home.layout.getGroup());
    }
    made->frozen = plan.buckets[made->bucket]->group < 0;
    describeInit(source, compilation.spec.init, *made);
    plan.parameters.push_back(std::move(made));
  }
}

void describeGroups(ModuleOp module, plan::PlanT &plan) {
  for (graph::OptimizerGroup group : graph::OptimizerGroup::of(module)) {
    auto made = std::make_unique<plan::OptimizerGroupT>();
    made->lr = group.get(HyperParameter::LearningRate);
    made->beta1 = group.get(HyperParameter::Beta1), made->beta2 = group.get(HyperParameter::Beta2);
    plan.groups.push_back(std::move(made));
  }
}

void describeSchedule(ModuleOp module, plan::PlanT &plan) {
  if (!module->hasAttr(graph::kSchedule))
    return;
  runtime::RateSchedule schedule = graph::scheduleOf(module);
  auto made = std::make_unique<plan::ScheduleT>();
  made->type = uint8_t(schedule.type);
  for (const runtime::ScheduleKeyRow &row : runtime::kScheduleKeys)
    if (std::optional<double> number = schedule[row.key])
      made->numbers.emplace_back(*number, uint8_t(row.key));
  if (schedule.warmupShape)
    made->warmup_shape = uint8_t(*schedule.warmupShape);
  if (schedule.decayShape)
    made->decay_shape = uint8_t(*schedule.decayShape);
  made->milestones.assign(schedule.milestones.begin(), schedule.milestones.end());
  plan.schedule = std::move(made);
}

void describeLossScale(ModuleOp module, plan::PlanT &plan) {
  std::optional<LossScale> scale = LossScale::of(module);
  if (!scale)
    return;
  plan.loss_scale = std::make_unique<plan::LossScaleT>();
  plan.loss_scale->initial = scale->initial, plan.loss_scale->min = scale->min;
  plan.loss_scale->window = scale->window, plan.loss_scale->hysteresis = scale->hysteresis;
  plan.loss_scale->dynamic = scale->isDynamic;
}

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

void describeData(const Compilation &compilation, plan::PlanT &plan) {
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

void describeEvaluation(const Spec &spec, ModuleOp module, plan::PlanT &plan) {
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

void describeCheckpoints(const Spec &spec, plan::PlanT &plan) {
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

std::unique_ptr<plan::InputT> describeInput(BlockArgument value) {
  graph::Argument argument(value);
  auto type = cast<RankedTensorType>(value.getType());
  auto made = std::make_unique<plan::InputT>();
  made->name = argument.getInput().str(), made->element = elementOf(type.getElementType());
  made->row_shape.assign(type.getShape().begin() + 1, type.getShape().end());
  if (std::optional<int64_t> limit = argument.getLimit())
    made->has_limit = true, made->limit = *limit;
  if (std::optional<int64_t> ignored = argument.getIgnored())
    made->has_ignore = true, made->ignore = *ignored;
  if (StringAttr part = argument.getWholeOf())
    made->whole_of = part.getValue().str();
  made->unread = argument.isUnread(), made->samples = argument.isSampleNumber();
  return made;
}

/// Of all entries; what several read is the same input.
void describeInputs(const Compilation &compilation, plan::PlanT &plan) {
  llvm::StringSet<> known;
  for (graph::Entry entry : graph::Entry::all(*compilation.unpartitioned))
    for (BlockArgument value : entry.getFunction().getArguments())
      if (StringAttr name = graph::Argument(value).getInput(); name && known.insert(name.getValue()).second)
        plan.inputs.push_back(describeInput(value));
}

/// Axis by axis; dp has a row even where it moves nothing.
void describeTraffic(ModuleOp module, plan::PlanT &plan) {
  for (auto [i, bytes] : llvm::enumerate(trafficOfAllRanks(module).axes)) {
    auto axis = static_cast<plan::Axis>(i);
    if (axis != plan::Axis::dp && bytes.total() == 0)
      continue;
    auto made = std::make_unique<plan::TrafficT>();
    made->axis = axis;
    made->all_gather = bytes.allGather.clamp(), made->reduce_scatter = bytes.reduceScatter.clamp();
    made->all_reduce = bytes.allReduce.clamp(), made->all_to_all = bytes.allToAll.clamp();
    made->transfer = bytes.transfer.clamp();
    plan.traffic.push_back(std::move(made));
  }
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

std::string xlc::makeFingerprint(const Compilation &compilation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*compilation.module)->print(stream);
  llvm::SHA256 hash;
  hash.update(compilation.request.compiler);
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

/// What a rank has beside its arena, at most.
static int64_t mostOutside(const Compilation &compilation) {
  const Target &target = compilation.getTarget();
  const Spec &spec = compilation.spec;
  int64_t most = 0;
  for (auto program : compilation.module.get().getOps<exec::ProgramOp>())
    most = std::max(most, sumOf(target.outsideOf(spec.device, (int64_t)program.getArena(), spec.ranks(),
                                                 target.outsideLinesOf(program, spec.isDeterministic))));
  return most;
}

std::unique_ptr<plan::PlanT> xlc::makePlanOfStates(const Compilation &compilation) {
  auto plan = std::make_unique<plan::PlanT>();
  describeBuckets(compilation, exec::programsOf(*compilation.module).front().getMesh(), *plan);
  describeCheckpoints(compilation.spec, *plan);
  return succeeded(fillHeldStates(*compilation.module, *plan)) ? std::move(plan) : nullptr;
}

std::unique_ptr<plan::PlanT> xlc::describePlan(const Compilation &compilation) {
  auto plan = std::make_unique<plan::PlanT>();
  ModuleOp module = *compilation.module;
  exec::ProgramOp program = exec::programsOf(module).front();
  plan->version = XLC_PLAN_VERSION;
  plan->compiler = compilation.request.compiler;
  plan->fingerprint = compilation.fingerprint;
  plan->model = llvm::sys::path::filename(compilation.modelPath).str();
  plan->micro = compilation.spec.microBatch;
  plan->threads = compilation.spec.threadsPerRankOrDefault();
  plan->overlap = compilation.spec.overlaps();
  plan->deterministic = compilation.spec.isDeterministic;
  plan->seed = compilation.spec.init.seed;
  plan->optimizer = compilation.spec.optimizer.rule->name.str();
  plan->precision = compilation.spec.precision.getName().str();
  plan->outside = mostOutside(compilation);
  describeBuckets(compilation, program.getMesh(), *plan);
  describeGroups(module, *plan);
  describeSchedule(module, *plan);
  describeLossScale(module, *plan);
  describeInputs(compilation, *plan);
  describeData(compilation, *plan);
  describeEvaluation(compilation.spec, module, *plan);
  describeCheckpoints(compilation.spec, *plan);
  describeTraffic(module, *plan);
  return plan;
}
