// Checks over several rows of the key table: which values are compatible.
//
// Each check names the keys that it reads. It is skipped if one of them was rejected, so that one mistake causes one
// error, and not a second one about the default that replaces the value.
#include "CrossChecks.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace xlc::spec {

bool isGiven(const Spec &spec, StringRef key) { return spec.where(key).line > 0; }

void noteIfGiven(const Spec &spec, StringRef key, const Twine &message, SpecErrors &errors) {
  if (isGiven(spec, key))
    errors.note(spec.where(key), message);
}

namespace {

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
  errors.note({}, below ? Twine(below) + " and " + Twine(above) + " are multiples"
                        : "the smallest multiple is " + Twine(above));
}

/// A timeline has an entry per unit and micro-batch.
void checkMicroBatches(Spec &spec, SpecErrors &errors) {
  constexpr int64_t most = 1024;
  int64_t perRound = spec.microBatch * spec.dp;
  if (!spec.globalBatch || *spec.globalBatch % perRound != 0 || spec.microBatches() <= most)
    return;
  errors.error(spec.where("batch.global"), "batch.global = " + Twine(*spec.globalBatch) + " results in " +
                                               Twine(spec.microBatches()) + " micro-batches, but at most " +
                                               Twine(most) + " are supported");
  errors.note({}, "batch.micro = " + Twine((*spec.globalBatch + most * spec.dp - 1) / (most * spec.dp)) +
                      " or more would work");
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
  errors.note({}, above > below && above <= spec.dp ? Twine(below) + " and " + Twine(above) + " would divide dp"
                                                    : Twine(below) + " would divide dp");
}

void checkShardStage(Spec &spec, SpecErrors &errors) {
  if (!spec.dpShard || spec.zeroStage >= 1)
    return;
  errors.error(spec.where("dp_shard"), "dp_shard = " + Twine(*spec.dpShard) + " has no effect with zero_stage = 0");
  noteIfGiven(spec, "zero_stage", "zero_stage is given here", errors);
  errors.note({}, "set zero_stage to 1, 2 or 3, or remove dp_shard");
}

void checkSequenceParallel(Spec &spec, SpecErrors &errors) {
  if (spec.tp > 1 || !spec.sequenceParallel.value_or(false))
    return;
  errors.error(spec.where("sequence_parallel"), "sequence_parallel = true has no effect with tp = 1");
  noteIfGiven(spec, "tp", "tp is given here", errors);
  errors.note({}, "set tp to 2 or more, or remove sequence_parallel");
}

void checkStages(Spec &spec, SpecErrors &errors) {
  struct Key {
    StringLiteral name;
    bool isDefault; ///< what a single stage does anyway
  };
  const Key keys[] = {{"pipeline.schedule", spec.pipeline.schedule == PipelineSpec().schedule},
                      {"pipeline.chunks", spec.chunksPerRank() == 1},
                      {"pipeline.cuts", false}};
  for (const auto &[key, isDefault] : keys) {
    if (spec.pp > 1 || !isGiven(spec, key) || isDefault)
      continue;
    errors.error(spec.where(key), key + " has no effect with pp = 1");
    noteIfGiven(spec, "pp", "pp is given here", errors);
    errors.note({}, "set pp to 2 or more, or remove " + key);
  }
}

void checkPins(Spec &spec, SpecErrors &errors) {
  if (!spec.layout.empty() && spec.tp == 1) {
    errors.error(spec.where("layout"), "layout has no effect with tp = 1");
    noteIfGiven(spec, "tp", "tp is given here", errors);
    errors.note({}, "set tp to 2 or more, or remove layout");
  }
  for (const LayoutPin &pin : spec.layout) {
    if (is_contained(pin.dimensions, -1))
      errors.error(pin.location,
                   "layout of '" + pin.pattern + "': keys must be dimension numbers, for example {0: tp}");
    if (pin.dimensions.empty())
      errors.error(pin.location, "layout of '" + pin.pattern + "' is empty; {0: tp} splits the first dimension");
    if (pin.dimensions.size() > 1)
      errors.error(pin.location, "layout of '" + pin.pattern + "' splits " + Twine(pin.dimensions.size()) +
                                     " dimensions over tp; only one dimension can be split");
  }
}

void checkReduce(Spec &spec, SpecErrors &errors) {
  if (spec.zero.reduce != ZeroSpec::Reduce::MicroBatch || spec.zeroStage >= 2)
    return;
  errors.error(spec.where("zero.reduce"),
               "zero.reduce = micro_batch requires zero_stage = 2 or 3, got " + Twine(spec.zeroStage));
  noteIfGiven(spec, "zero_stage", "zero_stage is given here", errors);
  errors.note({}, "stages 0 and 1 always reduce once per step; set zero_stage to 2 or 3, or remove zero.reduce");
}

void checkLoss(Spec &spec, SpecErrors &errors) {
  bool isCrossEntropy = isGiven(spec, "loss.type");
  if (isCrossEntropy && isGiven(spec, "loss.output")) {
    errors.error(spec.where("loss.output"),
                 "loss.output and loss.type are mutually exclusive: either the model or xlc computes the loss");
    errors.note(spec.where("loss.type"), "loss.type is given here");
  }
  constexpr StringLiteral crossEntropyKeys[] = {"loss.logits", "loss.labels", "loss.shift", "loss.ignore_index"};
  for (StringRef key : crossEntropyKeys) {
    if (isGiven(spec, key) && !isCrossEntropy) {
      errors.error(spec.where(key), key + " requires loss.type = cross_entropy");
      errors.note({}, "add 'type: cross_entropy' to loss");
    }
  }
  for (StringRef key : {"loss.logits", "loss.labels"})
    if (isCrossEntropy && !isGiven(spec, key))
      errors.error(spec.where("loss.type"), "loss.type = cross_entropy requires " + Twine(key));
  spec.loss.location = spec.where("loss");
  if (isCrossEntropy)
    spec.loss.type = LossSpec::Type::CrossEntropy;
}

void checkInit(Spec &spec, SpecErrors &errors) {
  if (spec.init.from == InitSpec::From::Random || !isGiven(spec, "init.std"))
    return;
  errors.error(spec.where("init.std"), Twine("init.std requires init.from = random, got ") +
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
      errors.error(spec.where(path), path + " applies to " + describeTakers(key.number, " and ") +
                                         ", not to optimizer.type = " + rule.name);
      noteIfGiven(spec, "optimizer.type", "optimizer.type is given here", errors);
    }
  }
}

void checkGroups(Spec &spec, SpecErrors &errors) {
  for (auto [index, group] : enumerate(spec.optimizer.groups)) {
    std::string path = "optimizer.groups[" + std::to_string(index) + "]";
    if (!isGiven(spec, path + ".match"))
      errors.error(group.location, path + " requires match, a list of patterns over parameter names");
    auto isOfGroup = [&](const auto &entry) {
      return StringRef(entry.first).starts_with(path + ".") && entry.first != path + ".match";
    };
    if (none_of(spec.locations, isOfGroup))
      errors.error(group.location, path + " has no effect; set lr or weight_decay, for example");
  }
}

void checkTies(Spec &spec, SpecErrors &errors) {
  for (const std::vector<std::string> &list : spec.tie)
    for (auto [i, name] : enumerate(list))
      if (is_contained(ArrayRef(list).take_front(i), name))
        errors.error(spec.where("tie"), "tie has " + quote(name) + " twice in one list");
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
      {{"optimizer.clip_norm", "optimizer.clip_value"}, checkClipping},
      {{"lr_schedule"}, checkScheduleKeys},
      {{"lr_schedule"}, checkScheduledSteps},
      {{"lr_schedule", "optimizer.lr"}, checkLeastRate},
      {{"ema"}, checkAverage},
      {{"tie"}, checkTies},
      {{"data", "loss"}, checkData},
      {{"checkpoint", "target"}, checkCheckpoint},
      {{"eval", "checkpoint"}, checkEval},
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
