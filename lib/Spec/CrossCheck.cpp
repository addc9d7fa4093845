// What no single row can say: which values go together.
//
// Each check names the keys that it reads. It is skipped when one of them was refused, so that one mistake
// gives one error, and not a second one about the default that stands in.
#include "Choices.h"
#include "DeviceFile.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace xlc::spec {
namespace {

bool isGiven(const Spec &spec, StringRef key) { return spec.where(key).line > 0; }

void noteIfGiven(const Spec &spec, StringRef key, const Twine &message, SpecErrors &errors) {
  if (isGiven(spec, key))
    errors.note(spec.where(key), message);
}

void checkGlobalBatch(Spec &spec, SpecErrors &errors) {
  int64_t perRound = spec.microBatch * spec.dp;
  if (!spec.globalBatch || *spec.globalBatch % perRound == 0)
    return;
  errors.error(spec.where("batch.global"), "batch.global = " + Twine(*spec.globalBatch) +
                                               " is not a multiple of batch.micro * dp = " + Twine(spec.microBatch) +
                                               " * " + Twine(spec.dp) + " = " + Twine(perRound));
  noteIfGiven(spec, "batch.micro", "batch.micro is given here", errors);
  noteIfGiven(spec, "dp", "dp is given here", errors);
  int64_t below = *spec.globalBatch / perRound * perRound, above = below + perRound;
  errors.note({},
              below ? Twine(below) + " and " + Twine(above) + " are multiples" : "the smallest one is " + Twine(above));
}

/// A timeline has an entry per unit and micro-batch.
void checkMicroBatches(Spec &spec, SpecErrors &errors) {
  constexpr int64_t most = 1024;
  int64_t perRound = spec.microBatch * spec.dp;
  if (!spec.globalBatch || *spec.globalBatch % perRound != 0 || spec.microBatches() <= most)
    return;
  errors.error(spec.where("batch.global"), "batch.global = " + Twine(*spec.globalBatch) + " makes " +
                                               Twine(spec.microBatches()) + " micro-batches, at most " + Twine(most) +
                                               " are supported");
  errors.note({}, "batch.micro = " + Twine((*spec.globalBatch + most * spec.dp - 1) / (most * spec.dp)) +
                      " or more would do");
}

void checkShardGroups(Spec &spec, SpecErrors &errors) {
  if (!spec.dpShard || spec.dp % *spec.dpShard == 0)
    return;
  int64_t shard = *spec.dpShard;
  errors.error(spec.where("dp_shard"), "dp_shard = " + Twine(shard) + " does not divide dp = " + Twine(spec.dp));
  noteIfGiven(spec, "dp", "dp is given here", errors);
  int64_t below = std::min(shard, spec.dp), above = shard;
  while (spec.dp % below != 0)
    --below;
  while (above < spec.dp && spec.dp % above != 0)
    ++above;
  errors.note({}, above > below && above <= spec.dp ? Twine(below) + " and " + Twine(above) + " would divide it"
                                                    : Twine(below) + " would divide it");
}

void checkShardStage(Spec &spec, SpecErrors &errors) {
  if (!spec.dpShard || spec.zeroStage >= 1)
    return;
  errors.error(spec.where("dp_shard"), "dp_shard = " + Twine(*spec.dpShard) + " shards nothing with zero_stage = 0");
  noteIfGiven(spec, "zero_stage", "zero_stage is given here", errors);
  errors.note({}, "zero_stage 1, 2 and 3 shard; without dp_shard every rank keeps everything");
}

void checkSequenceParallel(Spec &spec, SpecErrors &errors) {
  if (spec.tp > 1 || !spec.sequenceParallel.value_or(false))
    return;
  errors.error(spec.where("sequence_parallel"), "sequence_parallel = true splits over tp, which is 1");
  noteIfGiven(spec, "tp", "tp is given here", errors);
  errors.note({}, "tp of 2 or more, or no sequence_parallel, would do");
}

void checkStages(Spec &spec, SpecErrors &errors) {
  struct Key {
    StringLiteral name, does;
    bool isDefault; ///< what a single stage does anyway
  };
  const Key keys[] = {{"pipeline.schedule", "orders", spec.pipeline.schedule == PipelineSpec().schedule},
                      {"pipeline.chunks", "cuts", spec.chunksPerRank() == 1},
                      {"pipeline.cuts", "cuts", false}};
  for (const auto &[key, does, isDefault] : keys) {
    if (spec.pp > 1 || !isGiven(spec, key) || isDefault)
      continue;
    errors.error(spec.where(key), key + " " + does + " a pipeline, and pp is 1");
    noteIfGiven(spec, "pp", "pp is given here", errors);
    errors.note({}, "pp of 2 or more would do");
  }
}

void checkPins(Spec &spec, SpecErrors &errors) {
  if (!spec.layout.empty() && spec.tp == 1) {
    errors.error(spec.where("layout"), "layout splits parameters over tp, and tp is 1");
    noteIfGiven(spec, "tp", "tp is given here", errors);
    errors.note({}, "tp of 2 or more, or no layout, would do");
  }
  for (const LayoutPin &pin : spec.layout) {
    if (is_contained(pin.dimensions, -1))
      errors.error(pin.location,
                   "layout of '" + pin.pattern + "' names what is no dimension; {0: tp} splits the first");
    if (pin.dimensions.empty())
      errors.error(pin.location, "layout of '" + pin.pattern + "' names no dimension; {0: tp} splits the first");
    if (pin.dimensions.size() > 1)
      errors.error(pin.location, "layout of '" + pin.pattern + "' splits " + Twine(pin.dimensions.size()) +
                                     " dimensions over tp, which can split one of them");
  }
}

void checkKeep(Spec &spec, SpecErrors &errors) {
  if (spec.precision.keep.empty() || spec.precision.isMixed())
    return;
  errors.error(spec.where("precision.keep"), "precision.keep keeps what is float32 anyway: precision.compute is fp32");
  noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
  errors.note({}, "precision.compute of bf16 or fp16, or no precision.keep, would do");
}

void checkLossScale(Spec &spec, SpecErrors &errors) {
  using Compute = PrecisionSpec::Compute;
  if (!isGiven(spec, "precision.loss_scale"))
    return;
  SpecLocation location = spec.where("precision.loss_scale");
  if (spec.precision.compute == Compute::F32) {
    errors.error(location, "precision.loss_scale keeps gradients of float16 in range, and precision.compute is fp32");
    noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
    errors.note({}, "precision.compute of fp16, or no precision.loss_scale, would do");
  } else if (spec.precision.compute == Compute::BF16)
    errors.warning(location, "precision.loss_scale is of no use to bf16, which has the range of float32");
  std::optional<LossScale> scale = spec.precision.lossScale;
  if (scale && scale->initial < scale->min) {
    StringRef key =
        isGiven(spec, "precision.loss_scale.initial") ? "precision.loss_scale.initial" : "precision.loss_scale.min";
    std::string text;
    raw_string_ostream(text) << format("precision.loss_scale begins with %g, below its min, %g", scale->initial,
                                       scale->min);
    errors.error(spec.where(key), text);
  }
}

/// The keys of precision that say of something beside what is computed whether it has sixteen bits.
void checkKeptNarrow(Spec &spec, SpecErrors &errors) {
  const PrecisionSpec &precision = spec.precision;
  const std::pair<StringRef, bool> asked[] = {{"precision.master", precision.masterless},
                                              {"precision.states", precision.narrowStates},
                                              {"precision.gradients", precision.narrowGradients}};
  for (auto [key, isAsked] : asked)
    if (isAsked && !precision.isMixed()) {
      errors.error(spec.where(key), key + " asks for sixteen bits, and precision.compute is fp32");
      noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
      errors.note({}, "precision.compute of bf16 or fp16, or no " + key + ", would do");
    }
  if (precision.wideStream && !precision.isMixed()) {
    errors.error(spec.where("precision.stream"), "precision.stream asks for what is so: precision.compute is fp32");
    noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
    errors.note({}, "precision.compute of bf16 or fp16, or no precision.stream, would do");
  }
  if (isGiven(spec, "precision.rounding") && !precision.masterless && !precision.narrowStates)
    errors.warning(spec.where("precision.rounding"),
                   "precision.rounding has nothing to round: parameters have a master, and states are float32");
}

/// Rounding to nearest loses what is small beside what it is added to.
void checkRounding(Spec &spec, SpecErrors &errors) {
  const PrecisionSpec &precision = spec.precision;
  if (!precision.roundsUpdates() || !precision.roundsToNearest)
    return;
  std::string unit = precision.compute == PrecisionSpec::Compute::BF16 ? "2^-9" : "2^-12";
  if (precision.masterless)
    errors.warning(spec.where("precision.master"),
                   "parameters have no master and are rounded to nearest: what moves one by less than " + unit +
                       " of it is lost");
  if (precision.narrowStates)
    errors.warning(spec.where("precision.states"), "states are rounded to nearest: what moves one by less than " +
                                                       unit + " of it is lost, and a moving average may stand still");
}

/// Rules that take an eps divide by the root of a state that holds squares.
void checkSquares(Spec &spec, SpecErrors &errors) {
  const PrecisionSpec &precision = spec.precision;
  const Optimizer &rule = *spec.optimizer.rule;
  if (precision.compute != PrecisionSpec::Compute::F16 || !precision.narrowStates ||
      !rule.find(HyperParameter::Epsilon))
    return;
  errors.warning(spec.where("precision.states"),
                 Twine(rule.name) + " divides by the root of squares of gradients, and float16 holds nothing between 0 "
                                    "and 6e-08: where gradients are below 2.4e-04, steps have no bound");
  errors.note({}, "precision.compute of bf16, or no precision.states, would do");
}

void checkProducts(Spec &spec, SpecErrors &errors) {
  if (!spec.precision.wantsTf32 || spec.targetFacts().hasTf32)
    return;
  errors.error(spec.where("precision.products"),
               "precision.products: tf32 is for devices that have it, " + spec.targetFacts().devices + " do not");
  errors.note({}, "precision.products of ieee would do, or " + describeTargets(&TargetFacts::hasTf32, true));
}

void checkWeightGradients(Spec &spec, SpecErrors &errors) {
  if (!spec.weightsBeside)
    return;
  SpecLocation location = spec.where("runtime.weight_gradients");
  if (!spec.targetFacts().takesWeightsBeside) {
    errors.error(location, "runtime.weight_gradients: beside is for devices that compute several things at a time, " +
                               spec.targetFacts().devices + " compute one");
    errors.note({}, "runtime.weight_gradients of in_order would do, or " +
                        describeTargets(&TargetFacts::takesWeightsBeside, true));
    return;
  }
  if (!spec.device || spec.device->isCpu()) {
    errors.error(location, "runtime.weight_gradients: beside keeps memory for as long as products take on the GPU of "
                           "cluster.device, which names none");
    errors.note({}, "cluster: {device: h100} would do, for example");
  }
  if (spec.overlap == false) {
    errors.error(location, "runtime.weight_gradients: beside needs memory for what runs beside computations, which "
                           "runtime.overlap: inline does not give");
    noteIfGiven(spec, "runtime.overlap", "runtime.overlap is given here", errors);
    errors.note({}, "runtime.overlap of threads would do");
  }
}

void checkReduce(Spec &spec, SpecErrors &errors) {
  if (spec.zero.reduce != ZeroSpec::Reduce::MicroBatch || spec.zeroStage >= 2)
    return;
  errors.error(spec.where("zero.reduce"),
               "zero.reduce = micro_batch needs zero_stage 2 or 3, got " + Twine(spec.zeroStage));
  noteIfGiven(spec, "zero_stage", "zero_stage is given here", errors);
  errors.note({}, "stages 0 and 1 reduce once per step");
}

void checkLoss(Spec &spec, SpecErrors &errors) {
  bool isCrossEntropy = isGiven(spec, "loss.type");
  if (isCrossEntropy && isGiven(spec, "loss.output")) {
    errors.error(spec.where("loss.output"),
                 "loss.output says that the model computes its loss, and loss.type that it does not");
    errors.note(spec.where("loss.type"), "loss.type is given here");
  }
  constexpr StringLiteral crossEntropyKeys[] = {"loss.logits", "loss.labels", "loss.shift", "loss.ignore_index"};
  for (StringRef key : crossEntropyKeys) {
    if (isGiven(spec, key) && !isCrossEntropy) {
      errors.error(spec.where(key), key + " belongs to a loss of type cross_entropy");
      errors.note({}, "'type: cross_entropy' is missing from loss");
    }
  }
  for (StringRef key : {"loss.logits", "loss.labels"})
    if (isCrossEntropy && !isGiven(spec, key))
      errors.error(spec.where("loss.type"), "loss.type = cross_entropy needs " + Twine(key));
  spec.loss.location = spec.where("loss");
  if (isCrossEntropy)
    spec.loss.type = LossSpec::Type::CrossEntropy;
}

void checkInit(Spec &spec, SpecErrors &errors) {
  if (spec.init.from == InitSpec::From::Random || !isGiven(spec, "init.std"))
    return;
  errors.error(spec.where("init.std"), Twine("init.std belongs to initial values that are random, and init.from is ") +
                                           (spec.init.from == InitSpec::From::Model ? "model" : "a file"));
  noteIfGiven(spec, "init.from", "init.from is given here", errors);
}

/// Keys of the optimizer, and of its groups, that only some update rules take.
struct OptimizerKey {
  StringLiteral name;
  HyperParameter number;
};
constexpr OptimizerKey optimizerKeys[] = {{"weight_decay", HyperParameter::WeightDecay},
                                          {"momentum", HyperParameter::Momentum},
                                          {"betas", HyperParameter::Beta1},
                                          {"eps", HyperParameter::Epsilon}};

void checkOptimizerKeys(Spec &spec, SpecErrors &errors) {
  std::vector<std::string> prefixes = {"optimizer."};
  for (size_t i = 0; i < spec.optimizer.groups.size(); ++i)
    prefixes.push_back("optimizer.groups[" + std::to_string(i) + "].");
  const Optimizer &rule = *spec.optimizer.rule;
  for (const std::string &prefix : prefixes) {
    for (const OptimizerKey &key : optimizerKeys) {
      std::string path = prefix + key.name.str();
      if (!isGiven(spec, path) || rule.find(key.number))
        continue;
      errors.error(spec.where(path), path + " belongs to " + describeTakers(key.number, " and ") +
                                         ", and optimizer.type is " + rule.name);
      noteIfGiven(spec, "optimizer.type", "optimizer.type is given here", errors);
    }
  }
}

void checkGroups(Spec &spec, SpecErrors &errors) {
  for (auto [index, group] : enumerate(spec.optimizer.groups)) {
    std::string path = "optimizer.groups[" + std::to_string(index) + "]";
    if (!isGiven(spec, path + ".match"))
      errors.error(group.location, path + " needs match, a list of patterns over parameter names");
    auto isOfGroup = [&](const auto &entry) {
      return StringRef(entry.first).starts_with(path + ".") && entry.first != path + ".match";
    };
    if (none_of(spec.locations, isOfGroup))
      errors.error(group.location, path + " changes nothing; give it lr or weight_decay, for example");
  }
}

void checkTies(Spec &spec, SpecErrors &errors) {
  for (const std::vector<std::string> &list : spec.tie)
    for (auto [i, name] : enumerate(list))
      if (is_contained(ArrayRef(list).take_front(i), name))
        errors.error(spec.where("tie"), "tie has " + quote(name) + " twice in one list");
}

void checkData(Spec &spec, SpecErrors &errors) {
  if (isGiven(spec, "data.train") && spec.data.train.empty() && spec.data.trainFolder.empty())
    errors.error(spec.where("data.train"), "data.train names no file");
}

/// Completes the device, of which the spec may say its place.
void checkDevice(Spec &spec, SpecErrors &errors) {
  if (spec.deviceFile.empty()) // the file was checked when it was read
    completeDevice(spec, spec.where("cluster.device"), errors);
  if (!spec.device)
    return;
  spec.device->devicesPerNode = spec.devicesPerNode.value_or(spec.device->devicesPerNode);
  if (!spec.deviceMemory && spec.device->memory > 0)
    spec.deviceMemory = spec.device->memory;
}

void checkNodes(Spec &spec, SpecErrors &errors) {
  if (!spec.nodes)
    return;
  int64_t perNode = spec.devicesPerNode.value_or(spec.device ? spec.device->devicesPerNode : 0);
  if (perNode == 0) {
    errors.error(spec.where("cluster.nodes"),
                 "cluster.nodes = " + Twine(*spec.nodes) + " says nothing without the devices of one");
    errors.note({}, "cluster.devices_per_node, or a cluster.device that is known by name, would do");
    return;
  }
  int64_t needed = (spec.ranks() + perNode - 1) / perNode;
  if (needed <= *spec.nodes)
    return;
  errors.error(spec.where("cluster.nodes"), "cluster.nodes = " + Twine(*spec.nodes) + " with " + Twine(perNode) +
                                                " devices each are fewer than dp * pp * tp = " + Twine(spec.ranks()) +
                                                " ranks");
  errors.note({}, Twine(needed) + " nodes would do");
}

struct CrossCheck {
  std::vector<StringRef> reads;
  void (*run)(Spec &spec, SpecErrors &errors);
};

} // namespace

void crossCheck(Checked &checked, SpecErrors &errors) {
  const CrossCheck checks[] = {
      {{"batch", "dp"}, checkGlobalBatch},
      {{"batch", "dp"}, checkMicroBatches},
      {{"dp", "dp_shard"}, checkShardGroups},
      {{"zero_stage", "dp_shard"}, checkShardStage},
      {{"tp", "sequence_parallel"}, checkSequenceParallel},
      {{"pp", "pipeline"}, checkStages},
      {{"tp", "layout"}, checkPins},
      {{"zero_stage", "zero.reduce"}, checkReduce},
      {{"precision"}, checkKeep},
      {{"precision"}, checkLossScale},
      {{"precision"}, checkKeptNarrow},
      {{"precision"}, checkRounding},
      {{"precision", "optimizer.type"}, checkSquares},
      {{"precision.products"}, checkProducts},
      {{"loss"}, checkLoss},
      {{"init"}, checkInit},
      {{"optimizer.type"}, checkOptimizerKeys},
      {{"optimizer.groups"}, checkGroups},
      {{"tie"}, checkTies},
      {{"data"}, checkData},
      {{"cluster"}, checkDevice},
      {{"target", "cluster", "runtime.overlap", "runtime.weight_gradients"}, checkWeightGradients},
      {{"cluster", "dp", "pp", "tp"}, checkNodes},
  };
  auto isRefused = [&](StringRef key) {
    return any_of(checked.refused, [&](StringRef refused) {
      return refused == key || (refused.starts_with(key) && StringRef(".[").contains(refused[key.size()]));
    });
  };
  for (const CrossCheck &check : checks)
    if (none_of(check.reads, isRefused))
      check.run(checked.spec, errors);
}

} // namespace xlc::spec
