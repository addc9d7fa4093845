// The formulas of learning rates, one for each type of RateSchedules.h: doubles, evaluated in the order of
// transformers, PyTorch and DeepSpeed, so that their closed formulas are reproduced to the last bit.
//
//   t   steps that were applied before this one: skipped steps (LossScale.h) do not count
//   W   warmup: steps from `warmup_from` up to 1
//   T   `steps` of the schedule, or of the run
//   p   (t - W) / max(1, T - W)
//   m   min_lr over the rate of the first group
#ifndef XLC_RUNTIME_RATEFORMULAS_H
#define XLC_RUNTIME_RATEFORMULAS_H

#include "xlc/Runtime/RateSchedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace xlc::runtime {

/// The inputs of a formula: the schedule, the step t, and the group's rate with its share of min_lr.
struct RateStep {
  const RateSchedule &s;
  double t, lr, minLr;
  double warmup() const { return s.get(ScheduleKey::Warmup); }
  double steps() const { return s.get(ScheduleKey::Steps); }
};

namespace rates {

/// From `warmup_from` up to 1.
inline double warm(const RateStep &at) {
  double from = at.s.get(ScheduleKey::WarmupFrom);
  return from + (1 - from) * at.t / std::max(1.0, at.warmup());
}

/// A formula that is a factor after the warm-up.
template <double (*factor)(const RateStep &)> double scaled(const RateStep &at) {
  return at.lr * (at.t < at.warmup() ? warm(at) : factor(at));
}

/// The fraction of the time after the warm-up that has passed.
inline double progress(const RateStep &at) { return (at.t - at.warmup()) / std::max(1.0, at.steps() - at.warmup()); }

inline double constant(const RateStep &) { return 1; }

inline double linear(const RateStep &at) {
  return std::max(0.0, (at.steps() - at.t) / std::max(1.0, at.steps() - at.warmup()));
}

inline double cosine(const RateStep &at) {
  double wave = 0.5 * (1 + std::cos(std::numbers::pi * at.s.get(ScheduleKey::Cycles) * 2 * progress(at)));
  return std::max(0.0, wave * (1 - at.s.least()) + at.s.least());
}

inline double cosineWithRestarts(const RateStep &at) {
  double over = progress(at);
  if (over >= 1)
    return 0;
  return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * std::fmod(at.s.get(ScheduleKey::Cycles) * over, 1))));
}

/// The range applies to the first group: other groups use the same factor.
inline double polynomial(const RateStep &at) {
  double first = at.s.firstRate, last = at.s.get(ScheduleKey::MinLr);
  if (first == 0)
    return 0;
  if (at.t > at.steps())
    return last / first;
  return ((first - last) * std::pow(1 - progress(at), at.s.get(ScheduleKey::Power)) + last) / first;
}

inline double inverseSqrt(const RateStep &at) {
  double warmup = at.warmup(), scale = at.s.find(ScheduleKey::Timescale).value_or(warmup > 0 ? warmup : 10000);
  return 1 / std::sqrt((at.t + (scale - warmup)) / scale);
}

inline double decaying(RateCurve curve, double over) {
  if (curve == RateCurve::Cosine)
    return 0.5 * (1 + std::cos(std::numbers::pi * 0.5 * 2 * over));
  return curve == RateCurve::OneMinusSqrt ? 1 - std::sqrt(over) : 1 - over;
}

/// Warm-up, stable, decay. The warm-up starts at m.
inline double wsd(const RateStep &at) {
  double m = at.s.least(), decay = at.s.get(ScheduleKey::Decay), end = at.warmup() + (at.steps() - at.warmup() - decay);
  auto raised = [&](double factor) { return at.lr * std::max(0.0, factor * (1 - m) + m); };
  if (at.t < at.warmup())
    return raised(at.t / std::max(1.0, at.warmup()));
  if (at.t < end)
    return at.lr;
  return at.t < end + decay ? raised(decaying(at.s.decayCurve(), (at.t - end) / decay)) : at.lr * m;
}

inline double step(const RateStep &at) {
  return std::pow(at.s.get(ScheduleKey::Gamma), std::floor(at.t / at.s.get(ScheduleKey::Size)));
}

inline double multistep(const RateStep &at) {
  auto isPassed = [&](double milestone) { return milestone <= at.t; };
  return std::pow(at.s.get(ScheduleKey::Gamma), (double)std::ranges::count_if(at.s.milestones, isPassed));
}

inline double exponential(const RateStep &at) { return std::pow(at.s.get(ScheduleKey::Gamma), at.t); }

/// PyTorch's CosineAnnealingWarmRestarts: each period is `multiplier` times the previous one.
inline double warmRestarts(const RateStep &at) {
  double period = at.s.get(ScheduleKey::Period), multiplier = at.s.get(ScheduleKey::Multiplier), t = at.t;
  if (multiplier == 1)
    t = std::fmod(t, period);
  for (; t >= period; period *= multiplier) // NOLINT: whole periods
    t -= period;
  return at.minLr + (at.lr - at.minLr) * (1 + std::cos(std::numbers::pi * t / period)) / 2;
}

/// PyTorch's OneCycleLR: up over 0.3 T, then down.
inline double oneCycle(const RateStep &at) {
  double begin = at.lr / 25, end = begin / 1e4, peak = 0.3 * at.steps() - 1, last = at.steps() - 1;
  auto anneal = [](double from, double to, double over) {
    return to + (from - to) / 2 * (std::cos(std::numbers::pi * over) + 1);
  };
  if (at.t <= peak)
    return anneal(begin, at.lr, at.t / peak);
  return anneal(at.lr, end, (std::min(at.t, last) - peak) / (last - peak));
}

/// DeepSpeed's: its scheduler starts at -1, so that the first two steps have the same rate; its warm-ups take at least
/// two steps.
struct DeepSpeedStep {
  explicit DeepSpeedStep(const RateStep &at)
      : i(at.t - 1), warmup(std::max(2.0, at.warmup())), isLog(at.s.warmupCurve() == RateCurve::Log) {}
  double i, warmup;
  bool isLog;
  double warm() const { return isLog ? 1 / std::log(warmup) * std::log(i + 1) : i / warmup; }
};

inline double warmupLR(const RateStep &at) {
  DeepSpeedStep d(at);
  if (d.i < 0)
    return at.minLr;
  return at.minLr + (at.lr - at.minLr) * (d.i < d.warmup ? d.warm() : 1);
}

inline double warmupDecayLR(const RateStep &at) {
  DeepSpeedStep d(at);
  if (d.i < 0)
    return at.minLr;
  double down = std::max(0.0, (at.steps() - d.i) / std::max(1.0, at.steps() - d.warmup));
  return at.minLr + (at.lr - at.minLr) * (d.i < d.warmup ? d.warm() : down);
}

inline double warmupCosineLR(const RateStep &at) {
  DeepSpeedStep d(at);
  double from = at.s.get(ScheduleKey::WarmupFrom), least = at.s.get(ScheduleKey::MinRatio);
  if (d.i < 0)
    return at.lr * 0;
  if (d.i < d.warmup)
    return at.lr * (from + d.warm() * (1 - from));
  double over = std::min(1.0, (d.i - d.warmup + 1) / std::max(1.0, at.steps() - d.warmup));
  return at.lr * std::max(0.0, least + (1 - least) * ((1 + std::cos(std::numbers::pi * over)) / 2));
}

} // namespace rates

} // namespace xlc::runtime

#endif
