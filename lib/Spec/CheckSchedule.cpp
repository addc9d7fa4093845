// Checks a schedule of learning rates: whether its type accepts the given keys, whether the required ones are present,
// and which numbers are compatible. Also checks that gradients are clipped in one way only.
#include "CrossChecks.h"
#include "Keys.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <functional>

using namespace llvm;
using xlc::runtime::RateSchedule, xlc::runtime::ScheduleKey, xlc::runtime::ScheduleRow;

namespace xlc::spec {
namespace {

std::string pathOf(StringRef key) { return ("lr_schedule." + key).str(); }
std::string pathOf(ScheduleKey key) { return pathOf(runtime::rowOf(key).name); }

/// A key that is no number of the table, and the rows that take it.
struct OtherKey {
  StringLiteral name, takers;
  bool (*isTaken)(const ScheduleRow &row);
};
constexpr OtherKey otherKeys[] = {
    {"warmup_shape", "WarmupLR, WarmupDecayLR and WarmupCosineLR",
     [](const ScheduleRow &row) { return row.warmupShape.has_value(); }},
    {"decay_shape", "wsd", [](const ScheduleRow &row) { return row.decayShape.has_value(); }},
    {"milestones", "multistep", [](const ScheduleRow &row) { return row.takesMilestones; }},
};

std::string number(double value) {
  std::string text;
  raw_string_ostream(text) << format("%g", value);
  return text;
}

/// Where the type stands, or the schedule.
SpecLocation whereType(const Spec &spec) {
  return spec.where(isGiven(spec, "lr_schedule.type") ? "lr_schedule.type" : "lr_schedule");
}

} // namespace

void checkScheduleKeys(Spec &spec, SpecErrors &errors) {
  if (!spec.schedule)
    return;
  const ScheduleRow &row = spec.schedule->row();
  auto refuse = [&](StringRef key, StringRef takers) {
    errors.error(spec.where(key), key + " applies to " + takers + ", not to lr_schedule.type = " + StringRef(row.name));
    noteIfGiven(spec, "lr_schedule.type", "lr_schedule.type is given here", errors);
  };
  for (const runtime::ScheduleKeyRow &key : runtime::kScheduleKeys)
    if (isGiven(spec, pathOf(key.key)) && !row.find(key.key))
      refuse(pathOf(key.key), listTakers(key.key, " and "));
  for (const OtherKey &key : otherKeys)
    if (isGiven(spec, pathOf(key.name)) && !key.isTaken(row))
      refuse(pathOf(key.name), key.takers);
  auto need = [&](const std::string &key) {
    errors.error(whereType(spec), "lr_schedule.type = " + StringRef(row.name) + " requires " + key);
    errors.note({}, key + " must be " + describe(*findKey(key)));
  };
  for (const runtime::TakenByRate &taken : row.takes)
    if (taken.isRequired && !isGiven(spec, pathOf(taken.key)))
      need(pathOf(taken.key));
  if (row.takesMilestones && !isGiven(spec, pathOf("milestones")))
    need(pathOf("milestones"));
}

void checkScheduledSteps(Spec &spec, SpecErrors &errors) {
  if (!spec.schedule)
    return;
  RateSchedule &schedule = *spec.schedule;
  auto next = std::ranges::adjacent_find(schedule.milestones, std::greater_equal());
  if (next != schedule.milestones.end())
    errors.error(spec.where(pathOf("milestones")),
                 "lr_schedule.milestones must ascend, but " + number(next[1]) + " follows " + number(next[0]));
  std::optional<double> steps = schedule[ScheduleKey::Steps];
  if (!steps || !schedule.row().find(ScheduleKey::Steps))
    return;
  double warmup = schedule.get(ScheduleKey::Warmup), decay = schedule.get(ScheduleKey::Decay);
  if (warmup + decay <= *steps)
    return;
  bool hasDecay = isGiven(spec, pathOf(ScheduleKey::Decay));
  std::string sum = hasDecay ? "lr_schedule.warmup + lr_schedule.decay = " + number(warmup) + " + " + number(decay)
                             : "lr_schedule.warmup = " + number(warmup);
  errors.error(spec.where(pathOf(ScheduleKey::Steps)),
               "lr_schedule.steps = " + number(*steps) + " is less than " + sum);
  noteIfGiven(spec, pathOf(ScheduleKey::Warmup), "lr_schedule.warmup is given here", errors);
  noteIfGiven(spec, pathOf(ScheduleKey::Decay), "lr_schedule.decay is given here", errors);
  errors.note({}, Twine("lr_schedule.steps includes the warm-up") + (hasDecay ? " and the decay" : "") + "; " +
                      number(warmup + decay) + " or more would work");
}

void checkLeastRate(Spec &spec, SpecErrors &errors) {
  if (!spec.schedule)
    return;
  double least = spec.schedule->get(ScheduleKey::MinLr), rate = spec.optimizer.get(HyperParameter::LearningRate);
  spec.schedule->firstRate = rate;
  if (least <= rate)
    return;
  errors.error(spec.where(pathOf(ScheduleKey::MinLr)),
               "lr_schedule.min_lr = " + number(least) + " is above optimizer.lr = " + number(rate));
  noteIfGiven(spec, "optimizer.lr", "optimizer.lr is given here", errors);
}

void checkClipping(Spec &spec, SpecErrors &errors) {
  if (!spec.optimizer.clipNorm || !spec.optimizer.clipValue)
    return;
  errors.error(spec.where("optimizer.clip_value"),
               "optimizer.clip_value = " + number(*spec.optimizer.clipValue) + " and optimizer.clip_norm = " +
                   number(*spec.optimizer.clipNorm) + " are mutually exclusive; remove one of them");
  errors.note(spec.where("optimizer.clip_norm"), "optimizer.clip_norm is given here");
}

void checkAverage(Spec &spec, SpecErrors &) {
  if (isGiven(spec, "ema") && !spec.ema)
    spec.ema.emplace();
}

} // namespace xlc::spec
