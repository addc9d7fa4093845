// Keys of parameter updates: the optimizer, and the schedule of its learning rates. The table of a schedule's numbers
// (include/xlc/Runtime/RateSchedule.h) has their names and ranges.
#include "Choices.h"
#include "Keys.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace xlc::spec {
namespace {

OptimizerGroupSpec &group(Spec &spec) { return spec.optimizer.groups.back(); }

void setOptimizerType(Spec &spec, const Value &value) { spec.optimizer.rule = findOptimizer(value.text); }

/// Numbers of the optimizer, or of its last group.
using enum HyperParameter;
template <HyperParameter which> void setNumber(Spec &spec, const Value &value) {
  spec.optimizer.numbers[size_t(which)] = value.number;
}
template <HyperParameter which> void setNumberOfGroup(Spec &spec, const Value &value) {
  group(spec).numbers[size_t(which)] = value.number;
}
void setBetas(HyperParameters &numbers, const Value &value) {
  numbers[size_t(Beta1)] = value.numbers[0], numbers[size_t(Beta2)] = value.numbers[1];
}

void addGroup(Spec &spec, const Value &value) {
  spec.optimizer.groups.emplace_back();
  group(spec).location = value.location;
}

EmaSpec &average(Spec &spec) { return spec.ema ? *spec.ema : spec.ema.emplace(); }

using runtime::RateCurve, runtime::ScheduleKey;
using enum ScheduleKey;

runtime::RateSchedule &schedule(Spec &spec) { return spec.schedule ? *spec.schedule : spec.schedule.emplace(); }

void setScheduleType(Spec &spec, const Value &value) {
  schedule(spec).type = find_if(runtime::kSchedules, [&](const runtime::ScheduleRow &row) {
                          return StringRef(row.name) == value.text;
                        })->type;
}

template <ScheduleKey key> void setScheduled(Spec &spec, const Value &value) {
  schedule(spec)[key] = runtime::rowOf(key).isWhole ? double(value.integer) : value.number;
}

template <std::optional<RateCurve> runtime::RateSchedule::*shape> void setCurve(Spec &spec, const Value &value) {
  for (auto [number, name] : enumerate(runtime::kRateCurves))
    if (StringRef(name) == value.text)
      schedule(spec).*shape = RateCurve(number);
}

/// The row of a number of a schedule.
template <ScheduleKey key> Key scheduled(StringLiteral path, std::string otherwise, StringRef words) {
  const runtime::ScheduleKeyRow &row = runtime::rowOf(key);
  bool isBounded = row.high != runtime::kNoBound;
  Range range{.low = row.low, .high = isBounded ? row.high : Range().high, .excludesLow = row.excludesLow};
  return {path,
          row.isWhole ? Kind::Integer : Kind::Number,
          range,
          "",
          std::move(otherwise),
          ofTakers(key, words),
          setScheduled<key>};
}

// clang-format off
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only for want of memory
const Key updateRows[] = {
  {"optimizer", Kind::Section, any, "", "", "The update of parameters, as defined by PyTorch.", nullptr},
  {"optimizer.type", Kind::Choice, any, optimizerNames(), "adamw", "The update rule.", setOptimizerType},
  {"optimizer.lr", Kind::Number, notNegative, "", describeDefault(LearningRate),
   "Learning rate.", setNumber<LearningRate>},
  {"optimizer.weight_decay", Kind::Number, notNegative, "", describeDefault(WeightDecay),
   "Weight decay, applied as in the table of optimizers.", setNumber<WeightDecay>},
  {"optimizer.momentum", Kind::Number, notNegative, "", describeDefault(Momentum),
   ofTakers(Momentum, "momentum."), setNumber<Momentum>},
  {"optimizer.betas", Kind::Numbers, fraction, "", describeDefault({Beta1, Beta2}),
   ofTakers(Beta1, "decay of the moments."),
   [](Spec &s, const Value &v) { setBetas(s.optimizer.numbers, v); }},
  {"optimizer.eps", Kind::Number, notNegative, "", describeDefault(Epsilon),
   ofTakers(Epsilon, "added to the denominator."), setNumber<Epsilon>},
  {"optimizer.clip_norm", Kind::Number, positive, "", "no clipping",
   "If the norm of all gradients together is larger than this number, all gradients are scaled down to this norm "
   "(PyTorch's clip_grad_norm_).",
   [](Spec &s, const Value &v) { s.optimizer.clipNorm = v.number; }},
  {"optimizer.clip_value", Kind::Number, positive, "", "no clipping",
   "Each element of the gradient is clipped to [-value, value], after the division by the loss scale and by the number "
   "of averaged terms (PyTorch's clip_grad_value_). The logged norm is computed before clipping. Cannot be combined "
   "with `clip_norm`.",
   [](Spec &s, const Value &v) { s.optimizer.clipValue = v.number; }},
  {"optimizer.groups", Kind::Sections, any, "", "",
   "Parameters with other hyperparameters; later groups take precedence.", addGroup},
  {"optimizer.groups[].match", Kind::Patterns, any, "", "required",
   "Patterns over parameter names, as for `trainable`.",
   [](Spec &s, const Value &v) { group(s).match = v.texts; }},
  {"optimizer.groups[].lr", Kind::Number, notNegative, "", "optimizer.lr",
   "The group's learning rate.", setNumberOfGroup<LearningRate>},
  {"optimizer.groups[].weight_decay", Kind::Number, notNegative, "", "optimizer.weight_decay",
   "The group's weight decay.", setNumberOfGroup<WeightDecay>},
  {"optimizer.groups[].momentum", Kind::Number, notNegative, "", "optimizer.momentum",
   ofTakers(Momentum, "the group's momentum."), setNumberOfGroup<Momentum>},
  {"optimizer.groups[].betas", Kind::Numbers, fraction, "", "optimizer.betas",
   ofTakers(Beta1, "the group's decay of the moments."),
   [](Spec &s, const Value &v) { setBetas(group(s).numbers, v); }},
  {"optimizer.groups[].eps", Kind::Number, notNegative, "", "optimizer.eps",
   ofTakers(Epsilon, "the group's eps."), setNumberOfGroup<Epsilon>},

  {"lr_schedule", Kind::Choice, any, rateScheduleNames(), "constant",
   "The schedule of learning rates: a type, or a mapping of the keys below. Only applied steps are counted, not "
   "skipped ones (`precision.loss_scale`). `--lr` of the program scales the whole schedule.", setScheduleType},
  {"lr_schedule.type", Kind::Choice, any, rateScheduleNames(), "constant",
   "The formula, from the table of schedules.", setScheduleType},
  scheduled<Warmup>("lr_schedule.warmup", "1000 for DeepSpeed's schedules, else 0", "steps of the warm-up."),
  scheduled<WarmupFrom>("lr_schedule.warmup_from", "0",
                        "the rate at the start of the warm-up, as a fraction of the learning rate."),
  {"lr_schedule.warmup_shape", Kind::Choice, any, "log|linear", "log",
   "DeepSpeed's schedules: the shape of the warm-up.", setCurve<&runtime::RateSchedule::warmupShape>},
  scheduled<Steps>("lr_schedule.steps", "the steps of the run", "steps of the whole schedule, including the warm-up."),
  scheduled<MinLr>("lr_schedule.min_lr", "0",
                   "the minimum rate of parameters whose learning rate is `optimizer.lr`; in groups with another "
                   "learning rate, the minimum is scaled by `lr` / `optimizer.lr`."),
  scheduled<MinRatio>("lr_schedule.min_ratio", "1e-4", "the rate at the end, as a fraction of the learning rate."),
  scheduled<Cycles>("lr_schedule.cycles", "0.5 for cosine, 1 for cosine_with_restarts",
                    "number of cosine waves after the warm-up."),
  scheduled<Power>("lr_schedule.power", "1", "the exponent."),
  scheduled<Timescale>("lr_schedule.timescale", "`warmup`, or 10000 without a warm-up",
                       "steps from the end of the warm-up until the factor is 1 / sqrt(2)."),
  scheduled<Decay>("lr_schedule.decay", "required", "steps of the decay at the end."),
  {"lr_schedule.decay_shape", Kind::Choice, any, "linear|cosine|1-sqrt", "linear",
   "wsd: the shape of the decay.", setCurve<&runtime::RateSchedule::decayShape>},
  scheduled<Size>("lr_schedule.size", "required",
                  "the number of steps between two multiplications of the rate by `gamma`."),
  scheduled<Gamma>("lr_schedule.gamma", "required for exponential, else 0.1", "the factor."),
  {"lr_schedule.milestones", Kind::Integers, {.low = 0, .high = runtime::kMostScheduled}, "", "required",
   "multistep: at each of these steps the rate is multiplied by `gamma`; ascending.",
   [](Spec &s, const Value &v) { schedule(s).milestones = v.numbers; }},
  scheduled<Period>("lr_schedule.period", "required", "steps of the first period."),
  scheduled<Multiplier>("lr_schedule.multiplier", "1", "ratio of each period to the previous one."),

  {"ema", Kind::Section, any, "", "",
   "An exponential moving average of the trained parameters, in float32, sharded like the optimizer's states: each "
   "applied step sets it to `decay` times itself plus `1 - decay` times the parameters. `--save-ema` saves it.",
   nullptr},
  {"ema.decay", Kind::Number, fraction, "", "0.999", "The factor of the average in each step.",
   [](Spec &s, const Value &v) { average(s).decay = v.number; }},
  {"ema.start", Kind::Integer, notNegative, "", "0",
   "Up to and including this step the average equals the parameters; with 0 it starts from their initial values.",
   [](Spec &s, const Value &v) { average(s).start = v.integer; }},
};
// clang-format on

} // namespace

ArrayRef<Key> optimizerKeys() { return updateRows; }

} // namespace xlc::spec
