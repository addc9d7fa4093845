// The learning rates as functions of the step: one row for each type of schedule. A row has the keys of `lr_schedule`
// that the type accepts, with their defaults, and its formula. The spec reads and prints the rows, the plan's check
// reads them, programs, reports and the interpreter compute with them: no LLVM, no plan.
//
// To add a type: its formula in RateFormulas.h, a case of ScheduleType, a row here, and the steps of its library in
// unittests/Spec/make_rates.py.
#ifndef XLC_RUNTIME_RATESCHEDULES_H
#define XLC_RUNTIME_RATESCHEDULES_H

#include "xlc/Runtime/RateFormulas.h"

#include <initializer_list>

namespace xlc::runtime {

/// A number of a type.
struct TakenByRate {
  ScheduleKey key;
  std::optional<double> otherwise = std::nullopt; ///< the default; none: the number is required, or the type defines it
  bool isRequired = false;
};

/// A list of these numbers, with the length of the longest row.
struct TakenByRates {
  std::array<TakenByRate, 5> rows{};
  size_t count = 0;
  constexpr TakenByRates(std::initializer_list<TakenByRate> given) {
    for (const TakenByRate &each : given)
      rows[count++] = each;
  }
  constexpr const TakenByRate *begin() const { return rows.data(); }
  constexpr const TakenByRate *end() const { return rows.data() + count; }
};

struct ScheduleRow {
  ScheduleType type;
  std::string_view name;
  double (*rate)(const RateStep &); ///< of a group in a step
  TakenByRates takes;
  std::string_view doc;                                       ///< the formula for human readers, and its source
  std::optional<RateCurve> warmupShape = {}, decayShape = {}; ///< defaults NOLINT
  bool takesMilestones = false;

  constexpr const TakenByRate *find(ScheduleKey key) const {
    for (const TakenByRate &each : takes)
      if (each.key == key)
        return &each;
    return nullptr;
  }
};

inline constexpr TakenByRate kWarmup{ScheduleKey::Warmup, 0}, kWarmupFrom{ScheduleKey::WarmupFrom, 0};
inline constexpr TakenByRate kRunSteps{ScheduleKey::Steps}, kMinLr{ScheduleKey::MinLr, 0};
inline constexpr TakenByRate kWarmupOfDeepSpeed{ScheduleKey::Warmup, 1000};

/// In the order of the enum.
inline constexpr ScheduleRow kSchedules[] = {
    {ScheduleType::Constant, "constant", rates::scaled<rates::constant>, {kWarmup, kWarmupFrom}, "1 (transformers)"},
    {ScheduleType::Linear,
     "linear",
     rates::scaled<rates::linear>,
     {kWarmup, kWarmupFrom, kRunSteps},
     "max(0, (T - t) / max(1, T - W)) (transformers)"},
    {ScheduleType::Cosine,
     "cosine",
     rates::scaled<rates::cosine>,
     {kWarmup, kWarmupFrom, kRunSteps, kMinLr, {ScheduleKey::Cycles, 0.5}},
     "max(0, 0.5 (1 + cos(2 pi cycles p)) (1 - m) + m) (transformers; PyTorch's CosineAnnealingLR without warm-up)"},
    {ScheduleType::CosineWithRestarts,
     "cosine_with_restarts",
     rates::scaled<rates::cosineWithRestarts>,
     {kWarmup, kWarmupFrom, kRunSteps, {ScheduleKey::Cycles, 1}},
     "0.5 (1 + cos(pi ((cycles p) mod 1))); 0 from p = 1 on (transformers)"},
    {ScheduleType::Polynomial,
     "polynomial",
     rates::scaled<rates::polynomial>,
     {kWarmup, kWarmupFrom, kRunSteps, kMinLr, {ScheduleKey::Power, 1}},
     "(1 - m) (1 - p)^power + m; m after T (transformers; PyTorch's PolynomialLR)"},
    {ScheduleType::InverseSqrt,
     "inverse_sqrt",
     rates::scaled<rates::inverseSqrt>,
     {kWarmup, kWarmupFrom, {ScheduleKey::Timescale}},
     "1 / sqrt((t + s - W) / s), where s is `timescale` (transformers)"},
    {ScheduleType::Wsd,
     "wsd",
     rates::wsd,
     {kWarmup, kRunSteps, {ScheduleKey::Decay, std::nullopt, true}, kMinLr},
     "from m up to 1 over the warm-up; then 1; over the last `decay` steps down to m (transformers)",
     std::nullopt,
     RateCurve::Linear},
    {ScheduleType::Step,
     "step",
     rates::scaled<rates::step>,
     {kWarmup, kWarmupFrom, {ScheduleKey::Size, std::nullopt, true}, {ScheduleKey::Gamma, 0.1}},
     "gamma^(t div size) (PyTorch's StepLR)"},
    {ScheduleType::Multistep,
     "multistep",
     rates::scaled<rates::multistep>,
     {kWarmup, kWarmupFrom, {ScheduleKey::Gamma, 0.1}},
     "gamma^(number of milestones <= t) (PyTorch's MultiStepLR)",
     std::nullopt,
     std::nullopt,
     true},
    {ScheduleType::Exponential,
     "exponential",
     rates::scaled<rates::exponential>,
     {kWarmup, kWarmupFrom, {ScheduleKey::Gamma, std::nullopt, true}},
     "gamma^t (PyTorch's ExponentialLR)"},
    {ScheduleType::WarmRestarts,
     "warm_restarts",
     rates::warmRestarts,
     {{ScheduleKey::Period, std::nullopt, true}, {ScheduleKey::Multiplier, 1}, kMinLr},
     "m + (1 - m) (1 + cos(pi t' / P)) / 2, where t' is the number of steps since the start of the current period, and "
     "P is its length: `period`, `period` × `multiplier`, `period` × `multiplier`^2, ... (PyTorch's "
     "CosineAnnealingWarmRestarts)"},
    {ScheduleType::OneCycle,
     "one_cycle",
     rates::oneCycle,
     {kRunSteps},
     "from 1/25 up to 1 over 0.3 T, then down to 1/250000, along cosines (PyTorch's OneCycleLR with "
     "cycle_momentum=False)"},
    {ScheduleType::WarmupLR,
     "WarmupLR",
     rates::warmupLR,
     {kWarmupOfDeepSpeed, kMinLr},
     "from m up to 1 over the warm-up; then 1 (DeepSpeed)",
     RateCurve::Log},
    {ScheduleType::WarmupDecayLR,
     "WarmupDecayLR",
     rates::warmupDecayLR,
     {kWarmupOfDeepSpeed, kRunSteps, kMinLr},
     "from m up to 1 over the warm-up; then linearly down to m (DeepSpeed)",
     RateCurve::Log},
    {ScheduleType::WarmupCosineLR,
     "WarmupCosineLR",
     rates::warmupCosineLR,
     {kWarmupOfDeepSpeed, kWarmupFrom, kRunSteps, {ScheduleKey::MinRatio, 1e-4}},
     "from warmup_from up to 1 over the warm-up; then down to min_ratio along a cosine (DeepSpeed)",
     RateCurve::Log},
};

static_assert(
    [] {
      for (size_t i = 0; i < kScheduleKeyCount; ++i)
        if ((size_t)kScheduleKeys[i].key != i)
          return false;
      for (size_t i = 0; i < std::size(kSchedules); ++i)
        if ((size_t)kSchedules[i].type != i)
          return false;
      return true;
    }(),
    "rows stand in the order of their enum");

inline const ScheduleRow &RateSchedule::row() const { return kSchedules[(size_t)type]; }

inline std::optional<double> RateSchedule::find(ScheduleKey key) const {
  if (const std::optional<double> &given = numbers[(size_t)key])
    return given;
  const TakenByRate *taken = row().find(key);
  return taken ? taken->otherwise : std::nullopt;
}

inline RateCurve RateSchedule::warmupCurve() const {
  return warmupShape.value_or(row().warmupShape.value_or(RateCurve::Linear));
}
inline RateCurve RateSchedule::decayCurve() const {
  return decayShape.value_or(row().decayShape.value_or(RateCurve::Linear));
}

/// The rate of a group with base rate `lr`, in the step after `t` applied steps.
inline double rateOf(const RateSchedule &schedule, double lr, uint64_t t) {
  double minLr = schedule.get(ScheduleKey::MinLr);
  if (minLr != 0)
    minLr *= lr / schedule.firstRate;
  return schedule.row().rate({schedule, (double)(schedule.begins + t), lr, minLr});
}

/// The step with the largest rate of the first group among the first `steps` steps, from 0. Every type rises to a
/// single peak and never exceeds it later, so only steps near its boundaries are candidates.
inline uint64_t findLargestRate(const RateSchedule &schedule, uint64_t steps) {
  double ends[] = {0, schedule.get(ScheduleKey::Warmup), std::max(2.0, schedule.get(ScheduleKey::Warmup)) + 1,
                   0.3 * schedule.get(ScheduleKey::Steps) - 1, (double)steps - 1};
  uint64_t largest = 0;
  for (double end : ends)
    for (double t = std::floor(end) - 1; t <= end + 2; ++t) // NOLINT: whole numbers
      if (t >= 0 && t < (double)steps &&
          rateOf(schedule, schedule.firstRate, (uint64_t)t) > rateOf(schedule, schedule.firstRate, largest))
        largest = (uint64_t)t;
  return largest;
}

/// The schedule of a verification: over 1000 steps if the spec gives none, and starting with the first step in which
/// parameters change, because a step with a rate of 0 does not test its update.
inline RateSchedule scheduleOfVerification(RateSchedule schedule) {
  constexpr uint64_t steps = 1000, longestRest = 2; // DeepSpeed's logarithmic warm-ups
  schedule.setSteps(steps);
  while (schedule.begins < longestRest && rateOf(schedule, schedule.firstRate, 0) == 0)
    ++schedule.begins;
  return schedule;
}

} // namespace xlc::runtime

#endif
