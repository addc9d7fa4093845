// The parts of a schedule of learning rates: its keys, which the spec has below `lr_schedule` and the plan stores as
// data, and the types, of which RateSchedules.h has the rows. No LLVM, no plan.
#ifndef XLC_RUNTIME_RATESCHEDULE_H
#define XLC_RUNTIME_RATESCHEDULE_H

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace xlc::runtime {

/// The numbers of a schedule. Milestones and curves are members of RateSchedule.
enum class ScheduleKey : uint8_t {
  Warmup,
  WarmupFrom,
  Steps,
  MinLr,
  MinRatio,
  Cycles,
  Power,
  Timescale,
  Decay,
  Size,
  Gamma,
  Period,
  Multiplier,
};

struct ScheduleKeyRow {
  ScheduleKey key;
  std::string_view name; ///< in the spec, below `lr_schedule`
  bool isWhole;
  double low, high;
  bool excludesLow = false;

  constexpr bool allows(double value) const {
    bool isIn = (excludesLow ? value > low : value >= low) && value <= high; // false for NaN
    return isIn && (!isWhole || value == (double)(int64_t)value);
  }
};

inline constexpr double kMostScheduled = 2147483647; ///< steps
inline constexpr double kNoBound = std::numeric_limits<double>::max();

/// In the order of the enum.
inline constexpr ScheduleKeyRow kScheduleKeys[] = {
    {ScheduleKey::Warmup, "warmup", true, 0, kMostScheduled},
    {ScheduleKey::WarmupFrom, "warmup_from", false, 0, 1},
    {ScheduleKey::Steps, "steps", true, 1, kMostScheduled},
    {ScheduleKey::MinLr, "min_lr", false, 0, kNoBound},
    {ScheduleKey::MinRatio, "min_ratio", false, 0, 1},
    {ScheduleKey::Cycles, "cycles", false, 0, 1e6, true},
    {ScheduleKey::Power, "power", false, 0, 1e6, true},
    {ScheduleKey::Timescale, "timescale", true, 1, kMostScheduled},
    {ScheduleKey::Decay, "decay", true, 1, kMostScheduled},
    {ScheduleKey::Size, "size", true, 1, kMostScheduled},
    {ScheduleKey::Gamma, "gamma", false, 0, 1, true},
    {ScheduleKey::Period, "period", true, 1, kMostScheduled},
    {ScheduleKey::Multiplier, "multiplier", true, 1, kMostScheduled},
};
inline constexpr size_t kScheduleKeyCount = std::size(kScheduleKeys);

constexpr const ScheduleKeyRow &rowOf(ScheduleKey key) { return kScheduleKeys[(size_t)key]; }

/// The course of a warm-up (linear, log) or of a decay (linear, cosine, 1-sqrt).
enum class RateCurve : uint8_t { Linear, Log, Cosine, OneMinusSqrt };
inline constexpr std::string_view kRateCurves[] = {"linear", "log", "cosine", "1-sqrt"};
constexpr std::string_view nameOf(RateCurve curve) { return kRateCurves[(size_t)curve]; }

enum class ScheduleType : uint8_t {
  Constant,
  Linear,
  Cosine,
  CosineWithRestarts,
  Polynomial,
  InverseSqrt,
  Wsd,
  Step,
  Multistep,
  Exponential,
  WarmRestarts,
  OneCycle,
  WarmupLR,
  WarmupDecayLR,
  WarmupCosineLR,
};

struct ScheduleRow;

/// One schedule: the values of the spec; the row has the defaults.
struct RateSchedule {
  ScheduleType type = ScheduleType::Constant;
  std::array<std::optional<double>, kScheduleKeyCount> numbers{}; ///< by ScheduleKey
  std::optional<RateCurve> warmupShape, decayShape;
  std::vector<double> milestones; ///< steps, ascending
  double firstRate = 0;           ///< of the first group, to which min_lr refers
  uint64_t begins = 0;            ///< t of the first step, if a verification starts later

  const ScheduleRow &row() const;
  std::optional<double> &operator[](ScheduleKey key) { return numbers[(size_t)key]; }
  /// The given value, else the row's default; none if it has none.
  std::optional<double> find(ScheduleKey key) const;
  /// The same if the row has a value or `setSteps` set one.
  double get(ScheduleKey key) const { return find(key).value_or(0); }
  RateCurve warmupCurve() const;
  RateCurve decayCurve() const;
  /// min_lr over the rate of the first group.
  double least() const {
    double rate = get(ScheduleKey::MinLr);
    return rate == 0 ? 0 : rate / firstRate;
  }
  /// T of a run, if the spec gives none.
  void setSteps(uint64_t ofRun) {
    if (!(*this)[ScheduleKey::Steps])
      (*this)[ScheduleKey::Steps] = (double)ofRun;
  }
};

} // namespace xlc::runtime

#endif
