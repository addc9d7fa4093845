// What of a spec's precision goes together: what is computed, what is kept beside it, and how that is rounded.
#include "CrossChecks.h"

#include "llvm/Support/Format.h"

using namespace llvm;

namespace xlc::spec {

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

} // namespace xlc::spec
