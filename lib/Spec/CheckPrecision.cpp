// Checks the combinations of a spec's precision: the types of computation, the types that are kept beside them, and the
// rounding.
#include "CrossChecks.h"

#include "llvm/Support/Format.h"

using namespace llvm;

namespace xlc::spec {

void checkKeep(Spec &spec, SpecErrors &errors) {
  if (spec.precision.keep.empty() || spec.precision.isMixed())
    return;
  errors.error(spec.where("precision.keep"), "precision.keep has no effect when precision.compute is fp32");
  noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
  errors.note({}, "set precision.compute to bf16 or fp16, or remove precision.keep");
}

void checkLossScale(Spec &spec, SpecErrors &errors) {
  using Compute = PrecisionSpec::Compute;
  if (!isGiven(spec, "precision.loss_scale"))
    return;
  SpecLocation location = spec.where("precision.loss_scale");
  if (spec.precision.compute == Compute::F32) {
    errors.error(location, "precision.loss_scale applies to float16 gradients, but precision.compute is fp32");
    noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
    errors.note({}, "set precision.compute to fp16, or remove precision.loss_scale");
  } else if (spec.precision.compute == Compute::BF16)
    errors.warning(location, "precision.loss_scale is unnecessary with bf16, which has the range of float32");
  std::optional<LossScale> scale = spec.precision.lossScale;
  if (scale && scale->initial < scale->min) {
    StringRef key =
        isGiven(spec, "precision.loss_scale.initial") ? "precision.loss_scale.initial" : "precision.loss_scale.min";
    std::string text;
    raw_string_ostream(text) << format("precision.loss_scale.initial = %g is below precision.loss_scale.min = %g",
                                       scale->initial, scale->min);
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
      errors.error(spec.where(key), key + " has no effect when precision.compute is fp32");
      noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
      errors.note({}, "set precision.compute to bf16 or fp16, or remove " + key);
    }
  if (precision.wideStream && !precision.isMixed()) {
    errors.error(spec.where("precision.stream"), "precision.stream has no effect when precision.compute is fp32");
    noteIfGiven(spec, "precision.compute", "precision.compute is given here", errors);
    errors.note({}, "set precision.compute to bf16 or fp16, or remove precision.stream");
  }
  if (isGiven(spec, "precision.rounding") && !precision.masterless && !precision.narrowStates)
    errors.warning(spec.where("precision.rounding"),
                   "precision.rounding has no effect: parameters have a master, and states are float32");
}

/// Rounding to nearest loses what is small beside what it is added to.
void checkRounding(Spec &spec, SpecErrors &errors) {
  const PrecisionSpec &precision = spec.precision;
  if (!precision.roundsUpdates() || !precision.roundsToNearest)
    return;
  std::string unit = precision.compute == PrecisionSpec::Compute::BF16 ? "2^-9" : "2^-12";
  if (precision.masterless)
    errors.warning(spec.where("precision.master"),
                   "parameters have no master and are rounded to nearest: an update smaller than " + unit +
                       " times the parameter is lost");
  if (precision.narrowStates)
    errors.warning(spec.where("precision.states"),
                   "states are rounded to nearest: a change smaller than " + unit +
                       " times the state is lost, and a moving average may stop changing");
}

/// Rules that take an eps divide by the root of a state that holds squares.
void checkSquares(Spec &spec, SpecErrors &errors) {
  const PrecisionSpec &precision = spec.precision;
  const Optimizer &rule = *spec.optimizer.rule;
  if (precision.compute != PrecisionSpec::Compute::F16 || !precision.narrowStates ||
      !rule.find(HyperParameter::Epsilon))
    return;
  errors.warning(spec.where("precision.states"),
                 Twine(rule.name) + " divides by the square root of accumulated squared gradients, but float16 has no "
                                    "value between 0 and 6e-08: squares of gradients below 2.4e-04 become 0, and "
                                    "the steps are then unbounded");
  errors.note({}, "set precision.compute to bf16, or remove precision.states");
}

void checkProducts(Spec &spec, SpecErrors &errors) {
  if (!spec.precision.wantsTf32 || spec.targetFacts().hasTf32)
    return;
  errors.error(spec.where("precision.products"),
               "precision.products: tf32 is not supported on " + spec.targetFacts().devices);
  errors.note({}, "set precision.products to ieee, or set target to " + describeTargets(&TargetFacts::hasTf32, true));
}

} // namespace xlc::spec
