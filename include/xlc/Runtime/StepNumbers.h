// The numbers of a step: values that change from step to step and are not tensors. Each has a row with its name, its
// owner, its type and its writer. One pure function computes those that the host writes. The compiler places them, the
// runtime writes them, the plan's checks and reports read the rows: no LLVM, no plan.
//
//   of a group   an array of f32 for each optimizer group, in the order of the rows: element i is number i
//   of a step    one number for all parameters, at a place of its own; a program has those that its kernels read
//
// To add one: a row here, its value in `valueOf`, and a reader (`graph.step_number NAME`, or an optimizer's formula).
#ifndef XLC_RUNTIME_STEPNUMBERS_H
#define XLC_RUNTIME_STEPNUMBERS_H

#include "xlc/Runtime/Philox.h"
#include "xlc/Runtime/RateSchedules.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>

namespace xlc::runtime {

enum class StepNumber : uint8_t {
  LearningRate,   ///< by the schedule (RateSchedules.h), with the factor of the run (--lr)
  GradientFactor, ///< on the gradients: count of targets, clipping, loss scale
  Correction1,    ///< 1 - beta1^t, t being the number of the step among those that are applied, from 1
  Correction2,    ///< sqrt(1 - beta2^t)
  Applied,        ///< 1 if the step is applied, 0 if it is skipped
  AverageDecay,   ///< the factor on the average of the parameters; 0 up to and including step averageStart
  LossScale,      ///< the factor on the loss, if the spec has one
  RandomKey,      ///< of all random bits of the step (Philox.h)
};

/// The owner of a number.
enum class NumberOf : uint8_t { Group, Step };
/// The writer: the host at the start of the step, or the kernel of @scalars once norm and count are available.
enum class WrittenBy : uint8_t { Host, Scalars };
enum class NumberType : uint8_t { F32, I64 };

struct StepNumberRow {
  StepNumber number;
  std::string_view name;
  NumberOf owner;
  WrittenBy writer;
  NumberType type;
};

/// In the order of the enum.
inline constexpr StepNumberRow kStepNumbers[] = {
    {StepNumber::LearningRate, "learning_rate", NumberOf::Group, WrittenBy::Host, NumberType::F32},
    {StepNumber::GradientFactor, "gradient_factor", NumberOf::Group, WrittenBy::Scalars, NumberType::F32},
    {StepNumber::Correction1, "correction1", NumberOf::Group, WrittenBy::Host, NumberType::F32},
    {StepNumber::Correction2, "correction2", NumberOf::Group, WrittenBy::Host, NumberType::F32},
    {StepNumber::Applied, "applied", NumberOf::Group, WrittenBy::Scalars, NumberType::F32},
    {StepNumber::AverageDecay, "average_decay", NumberOf::Group, WrittenBy::Host, NumberType::F32},
    {StepNumber::LossScale, "loss_scale", NumberOf::Step, WrittenBy::Host, NumberType::F32},
    {StepNumber::RandomKey, "random_key", NumberOf::Step, WrittenBy::Host, NumberType::I64},
};

constexpr const StepNumberRow &rowOf(StepNumber number) { return kStepNumbers[(unsigned)number]; }

/// The number with this name; none if there is no such row.
constexpr std::optional<StepNumber> findStepNumber(std::string_view name) {
  for (const StepNumberRow &row : kStepNumbers)
    if (row.name == name)
      return row.number;
  return std::nullopt;
}

constexpr uint64_t bytesOf(NumberType type) { return type == NumberType::F32 ? 4 : 8; }

/// The number of numbers of a group.
inline constexpr int64_t kGroupNumbers = [] {
  int64_t count = 0;
  for (const StepNumberRow &row : kStepNumbers)
    count += row.owner == NumberOf::Group;
  return count;
}();

/// The position of a number in its group's array of f32: its element, and its byte.
constexpr int64_t indexInGroup(StepNumber number) { return (int64_t)number; }
constexpr uint64_t offsetInGroup(StepNumber number) {
  return (uint64_t)indexInGroup(number) * bytesOf(NumberType::F32);
}

/// Calls visit(row) for the numbers of a group that the host writes.
template <class Visit> constexpr void forEachHostNumberOfGroup(Visit visit) {
  for (const StepNumberRow &row : kStepNumbers)
    if (row.owner == NumberOf::Group && row.writer == WrittenBy::Host)
      visit(row);
}

static_assert(
    [] {
      for (unsigned i = 0; i < std::size(kStepNumbers); ++i)
        if ((unsigned)kStepNumbers[i].number != i ||
            (kStepNumbers[i].owner == NumberOf::Group) != ((int64_t)i < kGroupNumbers) ||
            (kStepNumbers[i].owner == NumberOf::Group && kStepNumbers[i].type != NumberType::F32))
          return false;
      return true;
    }(),
    "rows stand in the order of the enum, those of a group first, and a group's are f32");

/// The inputs of the numbers of a group.
struct GroupRates {
  double learningRate = 0;     ///< before the schedule
  double beta1 = 0, beta2 = 0; ///< 0 if the rule has none: its corrections are 1
  double averageDecay = 0;     ///< of the average of the parameters, if there is one
  uint64_t averageStart = 0;   ///< the last step in which the average equals the parameters
};

/// The properties of a step that the numbers depend on.
struct StepClock {
  uint64_t step = 1;     ///< from 1
  uint64_t applied = 1;  ///< the number of the step among those that are applied, if it is
  uint64_t seed = 0;     ///< of the run
  double rateFactor = 1; ///< on all learning rates
  double lossScale = 1;
  const RateSchedule *schedule = nullptr; ///< of learning rates; null: constant
};

using StepValue = std::variant<double, int64_t>;

/// A number that the host writes. `group` is used only for numbers of a group.
inline StepValue valueOf(StepNumber number, const GroupRates &group, const StepClock &clock) {
  auto t = (double)clock.applied;
  switch (number) {
  case StepNumber::LearningRate:
    return (clock.schedule ? rateOf(*clock.schedule, group.learningRate, clock.applied - 1) : group.learningRate) *
           clock.rateFactor;
  case StepNumber::Correction1:
    return 1 - std::pow(group.beta1, t);
  case StepNumber::Correction2:
    return std::sqrt(1 - std::pow(group.beta2, t));
  case StepNumber::AverageDecay:
    return clock.step <= group.averageStart ? 0 : group.averageDecay;
  case StepNumber::LossScale:
    return clock.lossScale;
  case StepNumber::RandomKey:
    return (int64_t)keyOfStep(clock.seed, clock.step);
  case StepNumber::GradientFactor:
  case StepNumber::Applied:
    break; // the kernel of @scalars writes them
  }
  return 0.0;
}

} // namespace xlc::runtime

#endif
