// The table, but for the keys of how parameters are updated (OptimizerKeys.cpp). Rows whose setter is null are
// sections, or keys that a later version will take.
#include "Keys.h"
#include "Choices.h"
#include "xlc/Runtime/Limits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace xlc::spec {
namespace {

constexpr Range parts = {.low = 0, .high = 1, .excludesLow = true};
constexpr Range ranks = {.low = 1, .high = 65536};
constexpr Range counts = {.low = 1, .high = 2147483647};
constexpr Range chunks = {.low = 1, .high = 64};
constexpr Range scales = {.low = 1e-6, .high = 1e30};
constexpr Range threads = {.low = 1, .high = runtime::kMostThreads};
constexpr Range memory = {.low = 1};
constexpr Range rates = {.low = 1, .high = 1e30};
constexpr Range capabilities = {.low = 1, .high = 20};
constexpr Range seconds = {.low = 0, .high = 1e6};

void setPrefetch(Spec &spec, const Value &value) {
  using Prefetch = ZeroSpec::Prefetch;
  spec.zero.prefetch = value.form == Value::Form::Auto    ? Prefetch::Auto
                       : value.form == Value::Form::Bytes ? Prefetch::Bytes
                                                          : Prefetch::Units;
  spec.zero.prefetchAmount = value.integer;
}

void setReduce(Spec &spec, const Value &value) {
  using Reduce = ZeroSpec::Reduce;
  spec.zero.reduce = value.text == "auto" ? Reduce::Auto : value.text == "step" ? Reduce::Step : Reduce::MicroBatch;
}

void setChunk(Spec &spec, const Value &value) {
  if (value.text != "auto")
    spec.loss.chunk = value.text == "all" ? 0 : value.integer;
}

/// The device that the keys below `cluster.device` describe.
Device &device(Spec &spec) { return spec.device ? *spec.device : spec.device.emplace(describedDevice()); }

void setDevice(Spec &spec, const Value &value) {
  if (value.form == Value::Form::File)
    spec.deviceFile = value.text;
  else
    spec.device = *findDevice(value.text);
}

template <ProductType type> void setProducts(Spec &spec, const Value &value) {
  device(spec).products[size_t(type)] = value.number;
}

template <ProductType type> void setPacking(Spec &spec, const Value &value) {
  device(spec).packing[size_t(type)] = double(value.integer);
}

template <Link Device::*link> void setBandwidth(Spec &spec, const Value &value) {
  (device(spec).*link).bandwidth = double(value.integer);
}
template <Link Device::*link> void setLatency(Spec &spec, const Value &value) {
  (device(spec).*link).latency = value.number;
}

void addPin(Spec &spec, const Value &value) { spec.layout.push_back({value.name, {}, value.location}); }

/// What is no number is -1, and a complaint of the cross-checks.
void addPinnedDimension(Spec &spec, const Value &value) {
  int64_t dimension = -1;
  bool isNumber = !StringRef(value.name).getAsInteger(10, dimension);
  spec.layout.back().dimensions.push_back(isNumber ? dimension : -1);
}

void setInit(Spec &spec, const Value &value) {
  using From = InitSpec::From;
  bool isFile = value.form == Value::Form::File;
  spec.init.from = isFile ? From::StateDict : value.text == "random" ? From::Random : From::Model;
  if (isFile)
    spec.init.stateDict = value.text;
}

void setReference(Spec &spec, const Value &value) {
  using From = ReferenceSpec::From;
  bool isFile = value.form == Value::Form::File;
  spec.reference = {isFile ? From::File : value.text == "off" ? From::Nowhere : From::Beside, isFile ? value.text : ""};
}

template <PrecisionSpec::Compute PrecisionSpec::*type> void setType(Spec &spec, const Value &value) {
  using Compute = PrecisionSpec::Compute;
  spec.precision.*type = value.text == "bf16" ? Compute::BF16 : value.text == "fp16" ? Compute::F16 : Compute::F32;
}

/// A number that stays, or "dynamic".
void setLossScale(Spec &spec, const Value &value) {
  LossScale scale;
  scale.isDynamic = value.text == "dynamic";
  if (!scale.isDynamic)
    scale.initial = scale.min = value.number;
  spec.precision.lossScale = scale;
}

/// Numbers of one that moves.
LossScale &dynamicScale(Spec &spec) {
  return spec.precision.lossScale ? *spec.precision.lossScale : spec.precision.lossScale.emplace();
}

// clang-format off
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key table[] = {
  {"dp", Kind::Integer, ranks, "", "1", "Data-parallel ranks.",
   [](Spec &s, const Value &v) { s.dp = v.integer; }},
  {"zero_stage", Kind::Integer, {.low = 0, .high = 3}, "", "0",
   "What is sharded over the data-parallel ranks: 0 nothing, 1 the optimizer state, 2 also the gradients, 3 also the parameters.",
   [](Spec &s, const Value &v) { s.zeroStage = int(v.integer); }},
  {"dp_shard", Kind::Integer, ranks, "", "dp",
   "Ranks per ZeRO group; when smaller than `dp`, state is sharded within a group and replicated across groups.",
   [](Spec &s, const Value &v) { s.dpShard = v.integer; }},
  {"pp", Kind::Integer, ranks, "", "1", "Pipeline stages: each holds some of the layers and sees every micro-batch. There are dp × pp × tp ranks.",
   [](Spec &s, const Value &v) { s.pp = v.integer; }},
  {"tp", Kind::Integer, ranks, "", "1", "Tensor-parallel ranks: each holds a part of every matrix of a layer, and an equal share of the heads of attention.",
   [](Spec &s, const Value &v) { s.tp = v.integer; }},
  {"sequence_parallel", Kind::Boolean, any, "", "true where tp > 1 divides the sequence", "Activations between tensor-parallel blocks are split over tp, along the sequence.",
   [](Spec &s, const Value &v) { s.sequenceParallel = v.boolean; }},

  {"pipeline", Kind::Section, any, "", "", "How the layers are cut into stages, and in which order stages see micro-batches.", nullptr},
  {"pipeline.schedule", Kind::Choice, any, scheduleNames(), PipelineSpec().schedule,
   "The order of forwards and backwards on each stage.",
   [](Spec &s, const Value &v) { s.pipeline.schedule = v.text; }},
  {"pipeline.chunks", Kind::Integer, chunks, "", describeDefaultChunks(), "Stages per pp rank.",
   [](Spec &s, const Value &v) { s.pipeline.chunks = v.integer; }},
  {"pipeline.cuts", Kind::NameList, any, "", "balanced", "Tensors or nodes after which a stage ends, in order: pp × chunks - 1 of them.",
   [](Spec &s, const Value &v) { s.pipeline.cuts = v.texts; }},

  {"layout", Kind::Names, any, "", "", "Patterns over parameter names whose split over tp is given rather than searched. The last that matches decides; one that others overrule everywhere is an error. What a given layout makes necessary (a sum before a nonlinearity) is paid for in messages; what it makes impossible (a norm that needs its parameter whole) is an error.", nullptr},
  {"layout.*", Kind::Names, any, "", "none", "The dimensions of these parameters that are split.", addPin},
  {"layout.*.*", Kind::Choice, any, "tp", "none", "Splits the dimension of this number, counted from 0.", addPinnedDimension},

  {"batch", Kind::Section, any, "", "", "Samples per step.", nullptr},
  {"batch.global", Kind::Integer, counts, "", "micro × dp",
   "Samples per optimizer step, over all ranks; a multiple of `micro` × `dp`, the quotient being the number of micro-batches.",
   [](Spec &s, const Value &v) { s.globalBatch = v.integer; }},
  {"batch.micro", Kind::Integer, counts, "", "1", "Samples per forward call of one rank.",
   [](Spec &s, const Value &v) { s.microBatch = v.integer; }},

  {"dims", Kind::Names, any, "", "", "Values of the model's symbolic dimensions; the batch dimension comes from `batch.micro`.", nullptr},
  {"dims.*", Kind::Integer, counts, "", "none", "Value of the symbolic dimension of this name.",
   [](Spec &s, const Value &v) { s.dims[v.name] = v.integer; }},

  {"loss", Kind::Section, any, "", "", "What is minimised; without it, the model's only scalar output.", nullptr},
  {"loss.type", Kind::Choice, any, "cross_entropy", "the model computes its loss", "A loss to put behind the model.",
   [](Spec &s, const Value &v) { s.loss.type = LossSpec::Type::CrossEntropy; }},
  {"loss.output", Kind::Text, any, "", "the only scalar output", "The model's output that is the loss.",
   [](Spec &s, const Value &v) { s.loss.type = LossSpec::Type::Output; s.loss.output = v.text; }},
  {"loss.logits", Kind::Text, any, "", "none", "cross_entropy: the model's output that holds the logits, classes last.",
   [](Spec &s, const Value &v) { s.loss.logits = v.text; }},
  {"loss.labels", Kind::Text, any, "", "none", "cross_entropy: the data (or model input) that holds the class of every position.",
   [](Spec &s, const Value &v) { s.loss.labels = v.text; }},
  {"loss.shift", Kind::Boolean, any, "", "false", "cross_entropy: position t predicts label t + 1, as causal language models do.",
   [](Spec &s, const Value &v) { s.loss.shift = v.boolean; }},
  {"loss.ignore_index", Kind::Integer, any, "", "-100", "cross_entropy: the label of positions that do not count.",
   [](Spec &s, const Value &v) { s.loss.ignoreIndex = v.integer; }},
  {"loss.scope", Kind::Choice, any, "global|micro_batch", "global",
   "Of what the loss is one: `global` trains on the loss of the global batch, however it is cut into ranks and micro-batches, and refuses one that has none once it is cut (rows meet, as in a contrastive loss); `micro_batch` trains on the mean of the losses of all micro-batches, as PyTorch does when it is run with the same cut.",
   [](Spec &s, const Value &v) { s.loss.scope = v.text == "global" ? LossSpec::Scope::Global : LossSpec::Scope::MicroBatch; }},
  {"loss.chunk", Kind::IntegerOrChoice, counts, "auto|all", "auto",
   "Rows of the logits that exist at once: the head's product, its loss and their gradients are computed by so many rows, in backward, so the logits of a whole micro-batch never exist. In return the gradients of the head's parameters are added once per chunk. `auto`: all rows where that fits `cluster.device_memory`; where it does not, as many as fit.", setChunk},

  {"init", Kind::Section, any, "", "", "Initial values of the parameters.", nullptr},
  {"init.from", Kind::ChoiceOrTensors, any, "model|random", "model",
   "`model`: the values in the ONNX file; `random`: normal(0, `std`), scales of norms 1, biases 0, keyed by element, so that no layout changes them; `FILE.safetensors`: a PyTorch state dict of the module that was exported, which decides what is a parameter, its name, shape and initial value ([Limits.md](Limits.md)).",
   setInit},
  {"init.seed", Kind::Integer, notNegative, "", "0", "Seed of everything that is random.",
   [](Spec &s, const Value &v) { s.init.seed = uint64_t(v.integer); }},
  {"init.std", Kind::Number, notNegative, "", "0.02", "random: standard deviation.",
   [](Spec &s, const Value &v) { s.init.std = v.number; }},

  {"reference", Kind::ChoiceOrTensors, any, "auto|off", "auto",
   "What PyTorch makes of a few rows, written by `xlc_export`: plan, compile and verify compare the loss and every gradient with it ([Export.md](Export.md)). `auto`: MODEL.reference.safetensors, where it lies beside the model; `FILE.safetensors`: that file; `off`: nothing is compared.",
   setReference},

  {"dropout", Kind::Choice, any, "on|off", "on",
   "Whether dropouts of the file drop elements; `off` trains the model without them, to compare or to measure. "
   "Other random operators draw either way.",
   [](Spec &s, const Value &v) { s.dropsNothing = v.text == "off"; }},
  {"trainable", Kind::Patterns, any, "", "[\"*\"]", "Patterns over parameter names; `!` excludes, the last one that matches decides.",
   [](Spec &s, const Value &v) { s.trainable = v.texts; }},
  {"padding", Kind::Names, any, "", "", "Patterns over names of embedding tables whose lookups give one row no gradient, as `padding_idx` does in PyTorch. Files of `torch.onnx.export(..., dynamo=True)` have it; those of dynamo=False lost it. Other uses of the row (a tied output layer) keep their gradient, and it decays as others do.", nullptr},
  {"padding.*", Kind::Integer, any, "", "none", "The number of that row; negative: from the end. The last pattern that matches decides.",
   [](Spec &s, const Value &v) { s.padding.push_back({v.name, v.integer}); }},
  {"tie", Kind::NameLists, any, "", "none",
   "Lists of names that are one parameter, where the file lost that; the first name and its initial value stay.",
   [](Spec &s, const Value &v) { s.tie = v.textLists; }},
  {"untie", Kind::NameList, any, "", "none",
   "Names of parameters that stand for themselves, though they begin equal to others and so were taken as tied.",
   [](Spec &s, const Value &v) { s.untie = v.texts; }},

  {"precision", Kind::Choice, any, "fp32|bf16|fp16", "fp32", "What is computed in sixteen bits; `precision: bf16` is short for `precision: {compute: bf16}`.", setType<&PrecisionSpec::compute>},
  {"precision.compute", Kind::Choice, any, "fp32|bf16|fp16", "fp32",
   "The type of parameters as they are read, of the operands of products, and of what forward keeps for backward. Products sum in float32, small operations compute in it; losses, statistics of norms, and what the optimizer computes are float32, and unless the keys below say otherwise, so are gradients of parameters, states, and the master of each parameter that the optimizer updates. A frozen parameter has no master: it is kept rounded, unless `keep` names it, and saved as it was read.", setType<&PrecisionSpec::compute>},
  {"precision.keep", Kind::Patterns, any, "", "none", "Patterns over names of parameters that are read as float32, as for `trainable`.",
   [](Spec &s, const Value &v) { s.precision.keep = v.texts; }},
  {"precision.master", Kind::Choice, any, "fp32|none", "fp32", "`none`: parameters have no master, the optimizer updates what units read, and rounds it.",
   [](Spec &s, const Value &v) { s.precision.masterless = v.text == "none"; }},
  {"precision.states", Kind::Choice, any, "fp32|compute", "fp32", "The type of the optimizer's states, the master apart: float32, or that of `compute`.",
   [](Spec &s, const Value &v) { s.precision.narrowStates = v.text == "compute"; }},
  {"precision.gradients", Kind::Choice, any, "fp32|compute", "fp32", "The type in which gradients are kept: float32, or that of `compute`; then each contribution of a micro-batch is rounded, and so is each sum. Parameters that `keep` names have all in float32.",
   [](Spec &s, const Value &v) { s.precision.narrowGradients = v.text == "compute"; }},
  {"precision.reduce", Kind::Choice, any, "fp32|bf16|fp16", "fp32", "The type in which gradients of float32 cross ranks: each rank's are rounded to it, summed as float32 in the order of the ranks, and the sum is rounded. Gradients of sixteen bits cross as they are, and are summed as float32.", setType<&PrecisionSpec::reduce>},
  {"precision.stream", Kind::Choice, any, "compute|fp32", "compute", "The type of the residual stream, forward and backward: `fp32` keeps sums of two activations, and norms that such a sum reads, in float32, as `torch.autocast` does; products round what they read of it. Messages of pipeline and tensor parallelism then carry float32.",
   [](Spec &s, const Value &v) { s.precision.wideStream = v.text == "fp32"; }},
  {"precision.products", Kind::Choice, any, "ieee|tf32", "ieee", "How products of float32 are done: as float32, or in tf32 on devices that have it, which CPUs do not.",
   [](Spec &s, const Value &v) { s.precision.wantsTf32 = v.text == "tf32"; }},
  {"precision.rounding", Kind::Choice, any, "stochastic|nearest", "stochastic", "How the optimizer rounds parameters without a master and narrow states. `stochastic`: up or down by random bits, which depend on `init.seed` (`--seed`), the step and the element, and not on the layout of ranks; on average nothing is lost (of float16, nothing that is more than 2^-14 of the last place). `nearest` is what PyTorch does, and loses an update that is smaller than half a unit in the last place.",
   [](Spec &s, const Value &v) { s.precision.roundsToNearest = v.text == "nearest"; }},
  {"precision.loss_scale", Kind::NumberOrChoice, scales, "dynamic", "dynamic with fp16, else none",
   "A factor on the loss that keeps gradients of float16 in range, as a number that stays, `dynamic`, or a mapping of the keys below. A step whose gradients are not all finite is skipped: parameters, states and the count of steps stay. Training ends with exit 7 where a step overflows at the smallest scale, and after " + std::to_string(runtime::kMostSkippedInRow) + " skipped steps in a row.", setLossScale},
  {"precision.loss_scale.initial", Kind::Number, scales, "", "65536", "The scale of the first step.",
   [](Spec &s, const Value &v) { dynamicScale(s).initial = v.number; }},
  {"precision.loss_scale.window", Kind::Integer, counts, "", "2000", "Steps in a row that are not skipped, after which the scale doubles.",
   [](Spec &s, const Value &v) { dynamicScale(s).window = v.integer; }},
  {"precision.loss_scale.hysteresis", Kind::Integer, counts, "", "1", "Skipped steps after which the scale halves, and again at each that follows; counted anew when the scale grows.",
   [](Spec &s, const Value &v) { dynamicScale(s).hysteresis = v.integer; }},
  {"precision.loss_scale.min", Kind::Number, scales, "", "1", "The scale does not fall below it.",
   [](Spec &s, const Value &v) { dynamicScale(s).min = v.number; }},

  {"zero", Kind::Section, any, "", "", "Details of ZeRO; keys that a stage has no use for are accepted, so that `zero_stage` can be changed alone.", nullptr},
  {"zero.reduce", Kind::Choice, any, "auto|micro_batch|step", "auto",
   "stages 2 and 3: reduce gradients after every micro-batch and keep the shard, or (`step`) keep whole gradients and reduce once, for less traffic; stages 0 and 1 always reduce once per step. `auto`: `step` where that fits `cluster.device_memory`; without one, `micro_batch`.",
   setReduce},
  {"zero.bucket_size", Kind::Bytes, memory, "", "25MiB", "Up to this size, parameters of small neighbouring units share one collective.",
   [](Spec &s, const Value &v) { s.zero.bucketBytes = v.integer; }},
  {"zero.persistence_threshold", Kind::Integer, notNegative, "", "100000", "stage 3: parameters with fewer elements than this stay resident on every rank.",
   [](Spec &s, const Value &v) { s.zero.persistenceThreshold = v.integer; }},
  {"zero.prefetch", Kind::BytesUnitsOrAuto, notNegative, "", "auto", "stage 3: how far ahead of their use parameters are gathered.", setPrefetch},
  {"zero.reshard_after_forward", Kind::BooleanOrAuto, any, "", "auto", "stage 3: release gathered parameters after each use and gather them again for the next, or (false) gather them once per step and keep them. `auto`: false where that fits `cluster.device_memory`; without one, true.",
   [](Spec &s, const Value &v) { if (v.form != Value::Form::Auto) s.zero.reshardAfterForward = v.boolean; }},

  {"cluster", Kind::Section, any, "", "", "What the plan must fit.", nullptr},
  {"cluster.device_memory", Kind::Bytes, memory, "", "no limit", "Memory of one device; `xlc plan` says whether the plan fits, and decides `auto` of `zero.reduce` and `zero.reshard_after_forward`.",
   [](Spec &s, const Value &v) { s.deviceMemory = v.integer; }},
  {"cluster.device", Kind::ChoiceOrDevice, any, listDeviceNames(), "none",
   "What the plan is timed for: a device that is known by name, a file with the user's own figures (`xlc calibrate` writes one for this machine), or the keys below, which are those of such a file. It gives `device_memory` where that is not given, the lines of memory outside of the arena, and the predicted times of a plan.", setDevice},
  {"cluster.device.name", Kind::Text, any, "", "device", "How plans call it.",
   [](Spec &s, const Value &v) { device(s).name = v.text; }},
  {"cluster.device.like", Kind::Choice, any, listDeviceNames(), "none", "The device whose figures hold where the keys below give none.",
   [](Spec &s, const Value &v) { s.deviceLike = v.text; }},
  {"cluster.device.memory", Kind::Bytes, memory, "", "no limit", "Its memory.",
   [](Spec &s, const Value &v) { device(s).memory = v.integer; }},
  {"cluster.device.flops", Kind::Section, any, "", "", "Floating-point operations per second that large products reach, under load as in a step, by the type of their operands.", nullptr},
  {"cluster.device.flops.fp32", Kind::Number, rates, "", "required", "", setProducts<ProductType::F32>},
  {"cluster.device.flops.bf16", Kind::Number, rates, "", "as fp32", "", setProducts<ProductType::BF16>},
  {"cluster.device.flops.fp16", Kind::Number, rates, "", "as fp32", "", setProducts<ProductType::F16>},
  {"cluster.device.bandwidth", Kind::Bytes, memory, "", "required", "Bytes that it reads and writes per second in its memory, 3.0TB.",
   [](Spec &s, const Value &v) { device(s).bandwidth = double(v.integer); }},
  {"cluster.device.packing", Kind::Section, any, "", "", "Bytes of its operands and its result that a product moves per second beside its arithmetic: small products have more of them.", nullptr},
  {"cluster.device.packing.fp32", Kind::Bytes, memory, "", "they move while it computes", "", setPacking<ProductType::F32>},
  {"cluster.device.packing.bf16", Kind::Bytes, memory, "", "they move while it computes", "", setPacking<ProductType::BF16>},
  {"cluster.device.packing.fp16", Kind::Bytes, memory, "", "they move while it computes", "", setPacking<ProductType::F16>},
  {"cluster.device.attention", Kind::Number, parts, "", "1", "What part of the rate of products attention reaches where it is one kernel.",
   [](Spec &s, const Value &v) { device(s).attention = v.number; }},
  {"cluster.device.call", Kind::Number, seconds, "", "0", "Seconds that a call takes at least.",
   [](Spec &s, const Value &v) { device(s).call = v.number; }},
  {"cluster.device.meeting", Kind::Number, seconds, "", "0", "Seconds more, where several threads of a rank begin and end it together. A CPU's.",
   [](Spec &s, const Value &v) { device(s).meeting = v.number; }},
  {"cluster.device.crowding", Kind::Number, seconds, "", "0", "Seconds more that a message of more ranks than a machine has cores takes: who waits sleeps, and is woken. A CPU's.",
   [](Spec &s, const Value &v) { device(s).crowding = v.number; }},
  {"cluster.device.cores", Kind::Integer, counts, "", "none", "cpu: cores of one machine. Then `flops` and `bandwidth` are those of one core, and ranks share them.",
   [](Spec &s, const Value &v) { device(s).cores = v.integer; }},
  {"cluster.device.compute_capability", Kind::Number, capabilities, "", "8.0", "target cuda: NVIDIA's compute capability, from which the chip follows.",
   [](Spec &s, const Value &v) { device(s).capability = std::llround(10 * v.number); }},
  {"cluster.device.node", Kind::Section, any, "", "", "What joins devices of one machine.", nullptr},
  {"cluster.device.node.bandwidth", Kind::Bytes, memory, "", "messages take no time", "Bytes per second that one device reads from others.", setBandwidth<&Device::node>},
  {"cluster.device.node.latency", Kind::Number, seconds, "", "0", "Seconds that a message takes at least.", setLatency<&Device::node>},
  {"cluster.device.network", Kind::Section, any, "", "", "What joins machines.", nullptr},
  {"cluster.device.network.bandwidth", Kind::Bytes, memory, "", "as within a machine", "Bytes per second, for each device.", setBandwidth<&Device::network>},
  {"cluster.device.network.latency", Kind::Number, seconds, "", "as within a machine", "Seconds that a message takes at least.", setLatency<&Device::network>},
  {"cluster.device.outside", Kind::Bytes, memory, "", "the target's", "Memory of a rank by itself that is none of the arena's. NCCL's comes on top where it has others, and on GPUs what graphs of a step and sums in order take.",
   [](Spec &s, const Value &v) { device(s).outside = {{"as given", v.integer}}; }},
  {"cluster.device.disk", Kind::Bytes, memory, "", "1 GB", "Bytes per second that one machine writes to the folder of checkpoints and syncs; `xlc doctor --disk` measures it.",
   [](Spec &s, const Value &v) { device(s).disk = double(v.integer); }},
  {"cluster.devices_per_node", Kind::Integer, ranks, "", "the device's, 8 for most", "Devices in one machine; ranks are numbered over them, tp fastest, then dp, then pp.",
   [](Spec &s, const Value &v) { s.devicesPerNode = v.integer; }},
  {"cluster.nodes", Kind::Integer, ranks, "", "as many as ranks need", "Machines; a spec that needs more is refused.",
   [](Spec &s, const Value &v) { s.nodes = v.integer; }},

  {"target", Kind::Choice, any, targetNames(), kTargetFacts[0].name.str(),
   "What the program is made for: " + describeTargets() + ". `--target` of the commands stands in its place.",
   [](Spec &s, const Value &v) { s.target = v.text; }},
};

// Behind those of data, evaluation and checkpoints (DataKeys.cpp, EvalKeys.cpp, CheckpointKeys.cpp).
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key lastRows[] = {
  {"runtime", Kind::Section, any, "", "", "How the program runs.", nullptr},
  {"runtime.overlap", Kind::Choice, any, "inline|threads", "threads with a `cluster.device` that is no CPU, else inline",
   "`inline`: a rank does one thing after the other. `threads`: what ranks exchange and load runs beside their computations, on streams of its own (on a CPU: threads), and the plan keeps the bytes of a message long enough for it to be hidden, as `cluster.device` predicts. The bits are the same.",
   [](Spec &s, const Value &v) { s.overlap = v.text == "threads"; }},
  {"runtime.deterministic", Kind::Boolean, any, "", "false", "GPUs sum over ranks in the order of the ranks, sixteen bits as float32, by all-to-all and a kernel: the same bits as CPUs get from the same terms. Without it NCCL chooses the order. CPUs always sum so. And what cuBLASLt could do with a product before it rounds it (GELU, residuals) are kernels, which round as those of CPUs.",
   [](Spec &s, const Value &v) { s.isDeterministic = v.boolean; }},
  {"runtime.attention", Kind::Choice, any, "fused|products",
   "fused; with `" + describeTargets(&TargetFacts::fusesAttentionDeterministically, false) + "` and `deterministic` products",
   "`fused`: attention is one kernel of a library where the target has one, and the scores lie nowhere: on GPUs cuDNN's, of sixteen bits, causal or not, with a padding mask or without (a query that sees no key attends to all alike; a mask that eager attention adds to the scores is for products, and so is dropout of its probabilities), with two queries at least, a multiple of 128 keys and at most 128 features a head. `products`: the scores lie in memory, between products and a kernel over their rows.",
   [](Spec &s, const Value &v) { s.fusesAttention = v.text == "fused"; }},
  {"runtime.weight_gradients", Kind::Choice, any, "in_order|beside", "in_order",
   "`beside`: GPUs compute the products that make gradients of weights on a stream of their own, beside what else backward computes, and the plan keeps what they read for as long as that takes on `cluster.device`. The bits are the same. With `loss.chunk` the head's stay where they are.",
   [](Spec &s, const Value &v) { s.weightsBeside = v.text == "beside"; }},
  {"runtime.threads_per_rank", Kind::Integer, threads, "", "cores / ranks, at least 1", "cpu: threads of one rank; part of the plan, since workspaces depend on it.",
   [](Spec &s, const Value &v) { s.threadsPerRank = int(v.integer); }},

  {"recompute", Kind::Unsupported, any, "", "",
   "Which residuals are computed again rather than kept; those that cost next to nothing always are "
   "(constants, views, masks).", nullptr},
  {"offload", Kind::Unsupported, any, "", "", "What lives in host memory.", nullptr},
};
// clang-format on

} // namespace

Device describedDevice() {
  Device device;
  device.call = device.meeting = device.crowding = device.node.latency = device.network.latency = kNotGiven;
  return device;
}

ArrayRef<Key> keyTable() {
  static const std::vector<Key> all = [] {
    std::vector<Key> joined(std::begin(table), std::end(table));
    append_range(joined, dataKeys());
    append_range(joined, evalKeys());
    append_range(joined, checkpointKeys());
    append_range(joined, lastRows);
    // How parameters are updated comes before precision.
    auto next = find_if(joined, [](const Key &key) { return key.path == "precision"; });
    joined.insert(next, optimizerKeys().begin(), optimizerKeys().end());
    return joined;
  }();
  return all;
}

const Key *findKey(StringRef path) {
  const Key *it = find_if(keyTable(), [&](const Key &key) { return key.path == path; });
  return it == keyTable().end() ? nullptr : it;
}

bool hasKeys(const Key &key) {
  return any_of(keyTable(), [&](const Key &other) { return other.path.starts_with((key.path + ".").str()); });
}

} // namespace xlc::spec
