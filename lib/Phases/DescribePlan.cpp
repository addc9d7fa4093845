// Fills the parts of the embedded plan beside the `exec` program: names, shapes and initial values of parameters,
// hyper- parameters, inputs, messages in bytes. They are read from the compilation, one table at a time.
#include "DescribePlan.h"
#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Dialect/Graph/Schedule.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Emit/Emit.h"
#include "xlc/Estimate/Cost.h"
#include "xlc/Estimate/Traffic.h"
#include "xlc/Memory/Memory.h"
#include "xlc/Phases/PlanOfStates.h"
#include "xlc/Runtime/Kernel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
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
    if (auto average = group.getAverage())
      made->average_decay = average->decay, made->average_start = uint64_t(average->start);
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

void describeOutputs(const Compilation &compilation, plan::PlanT &plan) {
  for (graph::Entry entry : graph::Entry::all(*compilation.unpartitioned))
    for (OpOperand *value : entry.getOutputs()) {
      auto type = cast<RankedTensorType>(value->get().getType());
      auto made = std::make_unique<plan::OutputT>();
      made->name = entry.getOutputName(*value).str(), made->element = elementOf(type.getElementType());
      made->lines = uint64_t(type.getDimSize(0) / compilation.spec.microBatch);
      made->shape.assign(type.getShape().begin() + 1, type.getShape().end());
      plan.outputs.push_back(std::move(made));
    }
}

/// What the products of a step take at the device's rate, on average over the stages.
double secondsOfProducts(const Compilation &compilation) {
  const Spec &spec = compilation.spec;
  if (!spec.device)
    return 0;
  double seconds = 0, cores = spec.device->cores > 0 ? double(spec.threadsPerRankOrDefault()) : 1;
  SmallVector<exec::ProgramOp> programs = exec::programsOf(*compilation.module);
  for (exec::ProgramOp program : programs)
    for (auto [flops, rate] : llvm::zip_equal(costOfStep(program).total().products, spec.device->products))
      seconds += flops ? double(flops) / (rate * cores) : 0;
  return seconds / double(programs.size());
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
  plan->product_seconds = secondsOfProducts(compilation);
  describeBuckets(compilation, program.getMesh(), *plan);
  describeGroups(module, *plan);
  describeSchedule(module, *plan);
  describeLossScale(module, *plan);
  describeInputs(compilation, *plan);
  describeOutputs(compilation, *plan);
  describeData(compilation, *plan);
  describeEvaluation(compilation.spec, module, *plan);
  describeCheckpoints(compilation.spec, *plan);
  describeTraffic(module, *plan);
  return plan;
}
