// The table, except the keys of parameter updates (OptimizerKeys.cpp). Rows whose setter is null are sections, or keys
// that a later version will accept.
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
   "State sharded over the data-parallel ranks: 0 none, 1 the optimizer state, 2 also the gradients, 3 also the parameters.",
   [](Spec &s, const Value &v) { s.zeroStage = int(v.integer); }},
  {"dp_shard", Kind::Integer, ranks, "", "dp",
   "Ranks per ZeRO group; if a group has fewer than `dp` ranks, state is sharded within each group and replicated across groups.",
   [](Spec &s, const Value &v) { s.dpShard = v.integer; }},
  {"pp", Kind::Integer, ranks, "", "1", "Pipeline-parallel ranks: each holds some of the layers and computes them for every micro-batch. There are dp × pp × tp ranks.",
   [](Spec &s, const Value &v) { s.pp = v.integer; }},
  {"tp", Kind::Integer, ranks, "", "1", "Tensor-parallel ranks: each holds a part of every matrix of a layer, and an equal share of the heads of attention.",
   [](Spec &s, const Value &v) { s.tp = v.integer; }},
  {"sequence_parallel", Kind::Boolean, any, "", "true if tp > 1 and tp divides the sequence", "Activations between tensor-parallel blocks are split over tp, along the sequence.",
   [](Spec &s, const Value &v) { s.sequenceParallel = v.boolean; }},

  {"pipeline", Kind::Section, any, "", "", "The division of the layers into stages, and the order of micro-batches on each stage.", nullptr},
  {"pipeline.schedule", Kind::Choice, any, scheduleNames(), PipelineSpec().schedule,
   "The order of forwards and backwards on each stage.",
   [](Spec &s, const Value &v) { s.pipeline.schedule = v.text; }},
  {"pipeline.chunks", Kind::Integer, chunks, "", describeDefaultChunks(), "Stages per pp rank.",
   [](Spec &s, const Value &v) { s.pipeline.chunks = v.integer; }},
  {"pipeline.cuts", Kind::NameList, any, "", "balanced", "The last tensor or node of each stage except the last stage, in order: pp × chunks - 1 names.",
   [](Spec &s, const Value &v) { s.pipeline.cuts = v.texts; }},

  {"layout", Kind::Names, any, "", "", "The split over tp of the parameters whose names match a pattern; a search determines the splits of the other parameters. The last matching pattern decides; a pattern that later ones always override is an error. A layout that is set here may add messages (a sum before a nonlinearity); a layout that an op does not support (a norm requires its whole parameter) is an error.", nullptr},
  {"layout.*", Kind::Names, any, "", "none", "The split dimensions of these parameters.", addPin},
  {"layout.*.*", Kind::Choice, any, "tp", "none", "Splits the dimension with this number, counted from 0.", addPinnedDimension},

  {"batch", Kind::Section, any, "", "", "Samples per step.", nullptr},
  {"batch.global", Kind::Integer, counts, "", "micro × dp",
   "Samples per optimizer step, over all ranks; a multiple of `micro` × `dp`. The quotient is the number of micro-batches.",
   [](Spec &s, const Value &v) { s.globalBatch = v.integer; }},
  {"batch.micro", Kind::Integer, counts, "", "1", "Samples per forward call of one rank.",
   [](Spec &s, const Value &v) { s.microBatch = v.integer; }},

  {"dims", Kind::Names, any, "", "", "Values of the model's symbolic dimensions; the batch dimension comes from `batch.micro`.", nullptr},
  {"dims.*", Kind::Integer, counts, "", "none", "Value of the symbolic dimension of this name.",
   [](Spec &s, const Value &v) { s.dims[v.name] = v.integer; }},

  {"loss", Kind::Section, any, "", "", "The loss to minimize. Default: the model's only scalar output.", nullptr},
  {"loss.type", Kind::Choice, any, "cross_entropy", "the model computes its loss", "A loss to append to the model.",
   [](Spec &s, const Value &v) { s.loss.type = LossSpec::Type::CrossEntropy; }},
  {"loss.output", Kind::Text, any, "", "the only scalar output", "The output of the model that is the loss.",
   [](Spec &s, const Value &v) { s.loss.type = LossSpec::Type::Output; s.loss.output = v.text; }},
  {"loss.logits", Kind::Text, any, "", "none", "cross_entropy: the output of the model that holds the logits, with the classes in the last dimension.",
   [](Spec &s, const Value &v) { s.loss.logits = v.text; }},
  {"loss.labels", Kind::Text, any, "", "none", "cross_entropy: the data (or model input) that holds the class of every position.",
   [](Spec &s, const Value &v) { s.loss.labels = v.text; }},
  {"loss.shift", Kind::Boolean, any, "", "false", "cross_entropy: position t predicts label t + 1, as causal language models do.",
   [](Spec &s, const Value &v) { s.loss.shift = v.boolean; }},
  {"loss.ignore_index", Kind::Integer, any, "", "-100", "cross_entropy: the label of ignored positions.",
   [](Spec &s, const Value &v) { s.loss.ignoreIndex = v.integer; }},
  {"loss.scope", Kind::Choice, any, "global|micro_batch", "global",
   "The rows over which the loss is defined. `global`: the loss of the global batch, for every division into ranks and micro-batches; a loss that cannot be divided (rows interact, as in a contrastive loss) is an error. `micro_batch`: the mean of the losses of all micro-batches, as in PyTorch with the same division.",
   [](Spec &s, const Value &v) { s.loss.scope = v.text == "global" ? LossSpec::Scope::Global : LossSpec::Scope::MicroBatch; }},
  {"loss.chunk", Kind::IntegerOrChoice, counts, "auto|all", "auto",
   "Rows of the logits in memory at a time: the head's product, its loss and their gradients are computed in chunks of this many rows, in backward, so the logits of a whole micro-batch are never materialized. The cost is that the gradients of the head's parameters are accumulated once per chunk. `auto`: all rows if they fit `cluster.device_memory`, else as many as fit.", setChunk},

  {"init", Kind::Section, any, "", "", "Initial values of the parameters.", nullptr},
  {"init.from", Kind::ChoiceOrTensors, any, "model|random", "model",
   "`model`: the values in the ONNX file; `random`: normal(0, `std`), with scales of norms set to 1 and biases set to 0; each value depends only on the seed and the element, not on the layout; `FILE.safetensors`: a PyTorch state dict of the exported module, which determines the parameters, their names, shapes and initial values ([Limits.md](Limits.md)).",
   setInit},
  {"init.seed", Kind::Integer, notNegative, "", "0", "Seed of all random numbers.",
   [](Spec &s, const Value &v) { s.init.seed = uint64_t(v.integer); }},
  {"init.std", Kind::Number, notNegative, "", "0.02", "random: standard deviation.",
   [](Spec &s, const Value &v) { s.init.std = v.number; }},

  {"reference", Kind::ChoiceOrTensors, any, "auto|off", "auto",
   "PyTorch's results for a few rows, written by `xlc_export`: plan, compile and verify compare the loss and every gradient with them ([Export.md](Export.md)). `auto`: MODEL.reference.safetensors next to the model, if it exists; `FILE.safetensors`: that file; `off`: no comparison.",
   setReference},

  {"dropout", Kind::Choice, any, "on|off", "on",
   "Whether the dropouts of the model are active; `off` trains the model without dropout, for comparisons and measurements. Other random operators are not affected.",
   [](Spec &s, const Value &v) { s.dropsNothing = v.text == "off"; }},
  {"trainable", Kind::Patterns, any, "", "[\"*\"]", "Patterns over the names of the parameters that are trained; a pattern after `!` excludes parameters, and the last matching pattern decides.",
   [](Spec &s, const Value &v) { s.trainable = v.texts; }},
  {"padding", Kind::Names, any, "", "", "Patterns over names of embedding tables with a row that gets no gradient from lookups, as with `padding_idx` in PyTorch. Files of `torch.onnx.export(..., dynamo=True)` record `padding_idx`; those of dynamo=False do not. Other uses of the row (a tied output layer) keep their gradient, and weight decay applies to the row.", nullptr},
  {"padding.*", Kind::Integer, any, "", "none", "The number of the row; negative numbers count from the end. The last matching pattern decides.",
   [](Spec &s, const Value &v) { s.padding.push_back({v.name, v.integer}); }},
  {"tie", Kind::NameLists, any, "", "none",
   "Lists of names; all names of a list denote the same parameter, for ties that the file does not record. The first name and its initial value are used.",
   [](Spec &s, const Value &v) { s.tie = v.textLists; }},
  {"untie", Kind::NameList, any, "", "none",
   "Names of parameters that are not tied, although their initial values equal those of others.",
   [](Spec &s, const Value &v) { s.untie = v.texts; }},

  {"precision", Kind::Choice, any, "fp32|bf16|fp16", "fp32", "The types of computation and storage; `precision: bf16` is short for `precision: {compute: bf16}`.", setType<&PrecisionSpec::compute>},
  {"precision.compute", Kind::Choice, any, "fp32|bf16|fp16", "fp32",
   "The type of parameters in forward and backward, of the operands of products, and of residuals. Products accumulate in float32, and all other operations compute in float32. Losses, statistics of norms and the optimizer's arithmetic are float32. By default, gradients of parameters, optimizer states, and the master copy of each updated parameter are also float32; the keys below can change this. A frozen parameter has no master: it is stored rounded, unless `keep` names it, and saved with its original values.", setType<&PrecisionSpec::compute>},
  {"precision.keep", Kind::Patterns, any, "", "none", "Patterns, as for `trainable`, over names of parameters that stay float32 in forward and backward.",
   [](Spec &s, const Value &v) { s.precision.keep = v.texts; }},
  {"precision.master", Kind::Choice, any, "fp32|none", "fp32", "`none`: parameters have no master; the optimizer updates and rounds the parameters themselves.",
   [](Spec &s, const Value &v) { s.precision.masterless = v.text == "none"; }},
  {"precision.states", Kind::Choice, any, "fp32|compute", "fp32", "The type of the optimizer's states, except the master: float32, or that of `compute`.",
   [](Spec &s, const Value &v) { s.precision.narrowStates = v.text == "compute"; }},
  {"precision.gradients", Kind::Choice, any, "fp32|compute", "fp32", "The type of stored gradients: float32, or that of `compute`, to which each contribution of a micro-batch and each sum is then rounded. Parameters named by `keep` have float32 gradients.",
   [](Spec &s, const Value &v) { s.precision.narrowGradients = v.text == "compute"; }},
  {"precision.reduce", Kind::Choice, any, "fp32|bf16|fp16", "fp32", "The type in which float32 gradients are sent: the gradients of each rank are rounded to this type and summed as float32 in the order of the ranks, and the sum is rounded. Gradients of sixteen bits are sent unchanged and summed as float32.", setType<&PrecisionSpec::reduce>},
  {"precision.stream", Kind::Choice, any, "compute|fp32", "compute", "The type of the residual stream, forward and backward: `fp32` keeps sums of two activations in float32, and also the results of norms that are operands of such a sum, as `torch.autocast` does; products round their operands. Messages of pipeline and tensor parallelism are then float32.",
   [](Spec &s, const Value &v) { s.precision.wideStream = v.text == "fp32"; }},
  {"precision.products", Kind::Choice, any, "ieee|tf32", "ieee", "The arithmetic of float32 products: float32, or tf32 on devices that support it (not on CPUs).",
   [](Spec &s, const Value &v) { s.precision.wantsTf32 = v.text == "tf32"; }},
  {"precision.rounding", Kind::Choice, any, "stochastic|nearest", "stochastic", "The rounding of parameters without a master and of sixteen-bit states. `stochastic`: up or down by random bits, which depend on `init.seed` (`--seed`), the step and the element, not on the layout of ranks; the rounding is unbiased (for float16, up to 2^-13 of a unit in the last place). `nearest`: as in PyTorch; an update smaller than half a unit in the last place is lost.",
   [](Spec &s, const Value &v) { s.precision.roundsToNearest = v.text == "nearest"; }},
  {"precision.loss_scale", Kind::NumberOrChoice, scales, "dynamic", "dynamic with fp16, else none",
   "A factor on the loss that keeps gradients of float16 in range: a constant, `dynamic`, or a mapping of the keys below. A step with a gradient that is not finite is skipped: parameters, states and the count of steps do not change. Training ends with exit code 7 if a step overflows at the smallest scale, and after " + std::to_string(runtime::kMostSkippedInRow) + " skipped steps in a row.", setLossScale},
  {"precision.loss_scale.initial", Kind::Number, scales, "", "65536", "Scale of the first step.",
   [](Spec &s, const Value &v) { dynamicScale(s).initial = v.number; }},
  {"precision.loss_scale.window", Kind::Integer, counts, "", "2000", "The scale doubles after this many consecutive steps without a skip.",
   [](Spec &s, const Value &v) { dynamicScale(s).window = v.integer; }},
  {"precision.loss_scale.hysteresis", Kind::Integer, counts, "", "1", "The scale halves after this many skipped steps, and again at each later one; the count restarts when the scale grows.",
   [](Spec &s, const Value &v) { dynamicScale(s).hysteresis = v.integer; }},
  {"precision.loss_scale.min", Kind::Number, scales, "", "1", "Lower bound of the scale.",
   [](Spec &s, const Value &v) { dynamicScale(s).min = v.number; }},

  {"zero", Kind::Section, any, "", "", "Details of ZeRO. Keys that do not apply to the stage are accepted, so that `zero_stage` can be changed alone; the exception is `reduce: micro_batch`, which is an error at stages 0 and 1.", nullptr},
  {"zero.reduce", Kind::Choice, any, "auto|micro_batch|step", "auto",
   "stages 2 and 3: `micro_batch` reduces gradients after every micro-batch and keeps the shard; `step` keeps whole gradients and reduces them once per step, for less traffic. `auto`: `step` if `cluster.device_memory` is known and suffices for it, else `micro_batch`. Stages 0 and 1 always reduce once per step.",
   setReduce},
  {"zero.bucket_size", Kind::Bytes, memory, "", "25MiB", "The largest size of a bucket: the parameters of a unit, or of small neighbouring units, that share one collective. A larger parameter has its own bucket.",
   [](Spec &s, const Value &v) { s.zero.bucketBytes = v.integer; }},
  {"zero.persistence_threshold", Kind::Integer, notNegative, "", "100000", "stage 3: parameters with at most this many elements stay resident on every rank.",
   [](Spec &s, const Value &v) { s.zero.persistenceThreshold = v.integer; }},
  {"zero.prefetch", Kind::BytesUnitsOrAuto, notNegative, "", "auto", "stage 3: distance by which parameters are gathered ahead of their use.", setPrefetch},
  {"zero.reshard_after_forward", Kind::BooleanOrAuto, any, "", "auto", "stage 3: `true` releases gathered parameters after each use and gathers them again for the next; `false` gathers them once per step and keeps them. `auto`: false if `cluster.device_memory` is known and suffices for it, else true.",
   [](Spec &s, const Value &v) { if (v.form != Value::Form::Auto) s.zero.reshardAfterForward = v.boolean; }},

  {"cluster", Kind::Section, any, "", "", "The hardware that the plan must fit.", nullptr},
  {"cluster.device_memory", Kind::Bytes, memory, "", "no limit", "Memory of one device; `xlc plan` reports whether the plan fits, and resolves `auto` of `zero.reduce` and `zero.reshard_after_forward`.",
   [](Spec &s, const Value &v) { s.deviceMemory = v.integer; }},
  {"cluster.device", Kind::ChoiceOrDevice, any, listDeviceNames(), "none",
   "The device for which the times of the plan are predicted: the name of a known device, a file with the user's own figures (`xlc calibrate` writes one for this machine), or the keys below, which are those of such a file. It also determines the default of `device_memory`, and the memory outside the arena.", setDevice},
  {"cluster.device.name", Kind::Text, any, "", "device", "Name of the device in plans.",
   [](Spec &s, const Value &v) { device(s).name = v.text; }},
  {"cluster.device.like", Kind::Choice, any, listDeviceNames(), "none", "The device that provides the figures not given by the keys below.",
   [](Spec &s, const Value &v) { s.deviceLike = v.text; }},
  {"cluster.device.memory", Kind::Bytes, memory, "", "no limit", "Memory of the device.",
   [](Spec &s, const Value &v) { device(s).memory = v.integer; }},
  {"cluster.device.flops", Kind::Section, any, "", "", "Floating-point operations per second of large products during a training step, for each type of operands.", nullptr},
  {"cluster.device.flops.fp32", Kind::Number, rates, "", "required", "", setProducts<ProductType::F32>},
  {"cluster.device.flops.bf16", Kind::Number, rates, "", "as fp32", "", setProducts<ProductType::BF16>},
  {"cluster.device.flops.fp16", Kind::Number, rates, "", "as fp32", "", setProducts<ProductType::F16>},
  {"cluster.device.bandwidth", Kind::Bytes, memory, "", "required", "Bytes of the device's memory that are read and written per second, for example 3.0TB.",
   [](Spec &s, const Value &v) { device(s).bandwidth = double(v.integer); }},
  {"cluster.device.packing", Kind::Section, any, "", "", "Bytes per second at which a product packs its operands and result; the time for packing is added to the time of the arithmetic, and matters for small products.", nullptr},
  {"cluster.device.packing.fp32", Kind::Bytes, memory, "", "no additional time", "", setPacking<ProductType::F32>},
  {"cluster.device.packing.bf16", Kind::Bytes, memory, "", "no additional time", "", setPacking<ProductType::BF16>},
  {"cluster.device.packing.fp16", Kind::Bytes, memory, "", "no additional time", "", setPacking<ProductType::F16>},
  {"cluster.device.attention", Kind::Number, parts, "", "1", "The rate of fused attention, as a fraction of the rate of products.",
   [](Spec &s, const Value &v) { device(s).attention = v.number; }},
  {"cluster.device.call", Kind::Number, seconds, "", "0", "Minimum duration of a call in seconds.",
   [](Spec &s, const Value &v) { device(s).call = v.number; }},
  {"cluster.device.meeting", Kind::Number, seconds, "", "0", "cpu: additional seconds of a call that several threads of a rank compute, since they are synchronized at its start and end.",
   [](Spec &s, const Value &v) { device(s).meeting = v.number; }},
  {"cluster.device.crowding", Kind::Number, seconds, "", "0", "cpu: additional seconds of a message if the machine has more ranks than cores: waiting threads sleep and have to be woken.",
   [](Spec &s, const Value &v) { device(s).crowding = v.number; }},
  {"cluster.device.cores", Kind::Integer, counts, "", "none", "cpu: cores of one machine. `flops` and `bandwidth` are then those of one core, and ranks share the cores.",
   [](Spec &s, const Value &v) { device(s).cores = v.integer; }},
  {"cluster.device.compute_capability", Kind::Number, capabilities, "", "8.0", "target cuda: NVIDIA's compute capability, which determines the chip.",
   [](Spec &s, const Value &v) { device(s).capability = std::llround(10 * v.number); }},
  {"cluster.device.node", Kind::Section, any, "", "", "The link between devices of one machine.", nullptr},
  {"cluster.device.node.bandwidth", Kind::Bytes, memory, "", "unlimited", "Bytes per second that one device reads from the others.", setBandwidth<&Device::node>},
  {"cluster.device.node.latency", Kind::Number, seconds, "", "0", "Minimum duration of a message in seconds.", setLatency<&Device::node>},
  {"cluster.device.network", Kind::Section, any, "", "", "The link between machines.", nullptr},
  {"cluster.device.network.bandwidth", Kind::Bytes, memory, "", "as within a machine", "Bytes per second, for each device.", setBandwidth<&Device::network>},
  {"cluster.device.network.latency", Kind::Number, seconds, "", "as within a machine", "Minimum duration of a message in seconds.", setLatency<&Device::network>},
  {"cluster.device.outside", Kind::Bytes, memory, "", "the target's value", "Device memory that a rank uses outside the arena. With several ranks, NCCL's memory is added; on GPUs, the memory of CUDA graphs and of ordered sums is added too.",
   [](Spec &s, const Value &v) { device(s).outside = {{"as given", v.integer}}; }},
  {"cluster.device.disk", Kind::Bytes, memory, "", "1 GB", "Bytes per second that one machine writes and syncs to the checkpoint folder; `xlc doctor --disk` measures it.",
   [](Spec &s, const Value &v) { device(s).disk = double(v.integer); }},
  {"cluster.devices_per_node", Kind::Integer, ranks, "", "the device's value (8 for most devices)", "Devices in one machine; ranks are numbered over them, tp fastest, then dp, then pp.",
   [](Spec &s, const Value &v) { s.devicesPerNode = v.integer; }},
  {"cluster.nodes", Kind::Integer, ranks, "", "as many as ranks need", "Number of machines; a spec that needs more is an error.",
   [](Spec &s, const Value &v) { s.nodes = v.integer; }},

  {"target", Kind::Choice, any, targetNames(), kTargetFacts[0].name.str(),
   "The hardware that the program runs on: " + describeTargets() + ". The option `--target` of the commands overrides it.",
   [](Spec &s, const Value &v) { s.target = v.text; }},
};

// Behind those of data, evaluation and checkpoints (DataKeys.cpp, EvalKeys.cpp, CheckpointKeys.cpp).
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key lastRows[] = {
  {"runtime", Kind::Section, any, "", "", "Execution of the program.", nullptr},
  {"runtime.overlap", Kind::Choice, any, "inline|threads", "threads if `cluster.device` is not a CPU, else inline",
   "`inline`: a rank executes one action at a time. `threads`: messages and loads overlap with computation, on streams of their own (on a CPU: threads), and in the plan each message has exclusive use of its memory for long enough that computation hides the message, as predicted for `cluster.device`. The results are bitwise identical.",
   [](Spec &s, const Value &v) { s.overlap = v.text == "threads"; }},
  {"runtime.deterministic", Kind::Boolean, any, "", "false", "true: GPUs sum over ranks in the order of the ranks, sixteen-bit values as float32, by an all-to-all and a kernel; for the same terms, the sums are bitwise identical to those of CPUs. Operations that cuBLASLt could fuse into a product before its rounding (GELU, residuals) become separate kernels, with the same rounding as on CPUs. false: NCCL chooses the order. CPUs always sum in the order of the ranks.",
   [](Spec &s, const Value &v) { s.isDeterministic = v.boolean; }},
  {"runtime.attention", Kind::Choice, any, "fused|products",
   "`products` with `target: " + describeTargets(&TargetFacts::fusesAttentionDeterministically, false) + "` and `runtime.deterministic`, else `fused`",
   "`fused`: attention is one library kernel where the target has one, and the score matrix is never materialized. On GPUs it is cuDNN's kernel, for causal or non-causal attention, with or without a padding mask (a query without visible keys attends to all keys equally). This kernel requires sixteen-bit types, at least two queries, a multiple of 128 keys, and at most 128 features per head. On GPUs, other attention, for example with a mask that is added to the scores (as in eager attention) or with dropout of the probabilities, is computed as with `products`. `products`: attention is computed by products and, between them, a kernel over the rows of the score matrix, which is stored.",
   [](Spec &s, const Value &v) { s.fusesAttention = v.text == "fused"; }},
  {"runtime.weight_gradients", Kind::Choice, any, "in_order|beside", "in_order",
   "`beside`: GPUs compute the products for gradients of weights on a separate stream, concurrently with the rest of backward, and in the plan, the operands of these products stay live for the predicted duration of the products on `cluster.device`. The results are bitwise identical. With `loss.chunk` the products of the head stay in order.",
   [](Spec &s, const Value &v) { s.weightsBeside = v.text == "beside"; }},
  {"runtime.threads_per_rank", Kind::Integer, threads, "", "cores / ranks, at least 1", "cpu: threads per rank; part of the plan, since workspaces depend on it.",
   [](Spec &s, const Value &v) { s.threadsPerRank = int(v.integer); }},

  {"recompute", Kind::Unsupported, any, "", "",
   "Residuals that are recomputed rather than kept; cheap residuals (constants, views, masks) are always recomputed.", nullptr},
  {"offload", Kind::Unsupported, any, "", "", "State in host memory.", nullptr},
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
