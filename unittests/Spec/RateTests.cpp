// Learning rates, through the spec: each schedule gives in each step the rate that its library gives
// (Inputs/rates.json, made by make_rates.py), to the last bit where that evaluates a closed formula.
#include "xlc/Spec/Spec.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <gnu/libc-version.h>

using namespace llvm;
using namespace xlc;
using namespace xlc::runtime;

namespace {

/// Where the rates were made. Another library may round a cosine or a power otherwise.
bool isSameLibrary() { return StringRef(gnu_get_libc_version()) == "2.36"; }

RateSchedule read(StringRef text, double lr) {
  Diagnostics diagnostics(errs());
  std::string file = formatv("optimizer: {{lr: {0}}\nlr_schedule: {1}\n", json::Value(lr), text);
  std::optional<Spec> spec = parseSpec(file, "rates.yaml", diagnostics);
  EXPECT_TRUE(spec && spec->schedule) << file;
  return spec && spec->schedule ? *spec->schedule : RateSchedule();
}

struct Row {
  std::string text; ///< of lr_schedule
  RateSchedule schedule;
  bool isExact;
  std::vector<double> rates;
};

struct Reference {
  double base;
  std::vector<uint64_t> steps; ///< those that are kept
  std::vector<Row> rows;
};

const Reference &reference() {
  static const Reference known = [] {
    Reference made;
    auto file = MemoryBuffer::getFile(XLC_RATES);
    json::Value parsed = cantFail(json::parse(file.get()->getBuffer()));
    const json::Object &all = *parsed.getAsObject();
    made.base = *all.getNumber("base");
    for (const json::Value &step : *all.getArray("at"))
      made.steps.push_back(*step.getAsUINT64());
    for (const json::Value &each : *all.getArray("schedules")) {
      const json::Object &object = *each.getAsObject();
      std::string text = formatv("{0}", json::Value(json::Object(*object.getObject("lr_schedule"))));
      Row row{text, read(text, made.base), *object.getBoolean("exact"), {}};
      for (const json::Value &rate : *object.getArray("lr"))
        row.rates.push_back(*rate.getAsNumber());
      made.rows.push_back(std::move(row));
    }
    return made;
  }();
  return known;
}

TEST(Rates, EachScheduleIsThatOfItsLibrary) {
  ASSERT_EQ(reference().rows.size(), 25u);
  for (const Row &row : reference().rows)
    for (size_t i = 0; i < row.rates.size(); ++i) {
      double rate = rateOf(row.schedule, reference().base, reference().steps[i]);
      if (row.isExact && isSameLibrary())
        EXPECT_EQ(rate, row.rates[i]) << row.text << " step " << reference().steps[i];
      else
        EXPECT_NEAR(rate, row.rates[i], 1e-12 * row.rates[i]) << row.text << " step " << reference().steps[i];
    }
}

TEST(Rates, OtherGroupsKeepTheirRatioToTheFirst) {
  for (const Row &row : reference().rows)
    for (uint64_t step : reference().steps) {
      double first = rateOf(row.schedule, reference().base, step);
      EXPECT_NEAR(rateOf(row.schedule, 3 * reference().base, step), 3 * first, 1e-12 * first) << row.text;
      EXPECT_EQ(rateOf(row.schedule, 0, step), 0) << row.text;
    }
}

TEST(Rates, TheLargestOfARunIsFound) {
  for (const Row &row : reference().rows)
    for (uint64_t steps : {1, 2, 3, 400, 501, 502, 2999, 3001, 10000}) {
      double largest = 0;
      for (uint64_t t = 0; t < steps; ++t)
        largest = std::max(largest, rateOf(row.schedule, reference().base, t));
      EXPECT_EQ(rateOf(row.schedule, reference().base, findLargestRate(row.schedule, steps)), largest)
          << row.text << " over " << steps;
    }
}

TEST(Rates, StepsOfTheRunStandWhereTheSpecHasNone) {
  RateSchedule open = read("linear", 1), given = read("{type: linear, steps: 4}", 1);
  open.setSteps(8), given.setSteps(8);
  EXPECT_EQ(rateOf(open, 1, 2), 0.75);
  EXPECT_EQ(rateOf(given, 1, 2), 0.5);
  EXPECT_EQ(rateOf(given, 1, 6), 0); // behind its end
}

TEST(Rates, AVerificationBeginsWhereParametersMove) {
  for (const Row &row : reference().rows) {
    RateSchedule schedule = scheduleOfVerification(row.schedule);
    EXPECT_GT(rateOf(schedule, reference().base, 0), 0) << row.text;
    EXPECT_EQ(schedule.begins == 0, rateOf(row.schedule, reference().base, 0) > 0) << row.text;
  }
}

TEST(Rates, EachNumberThatATypeTakesIsAKeyOfTheSpec) {
  for (const ScheduleRow &row : kSchedules) {
    std::string text = ("{type: " + StringRef(row.name)).str();
    auto valueOf = [](ScheduleKey key) {
      double number = 10 + (double)key;
      return key == ScheduleKey::Steps ? 5000 : rowOf(key).isWhole ? number : number / 100;
    };
    for (const TakenByRate &taken : row.takes) {
      double number = valueOf(taken.key);
      text += formatv(", {0}: {1}", StringRef(rowOf(taken.key).name),
                      rowOf(taken.key).isWhole ? json::Value((int64_t)number) : json::Value(number));
    }
    RateSchedule schedule = read(text + (row.takesMilestones ? ", milestones: [1, 5]}" : "}"), 1);
    for (const TakenByRate &taken : row.takes)
      EXPECT_EQ(schedule.find(taken.key), valueOf(taken.key)) << text;
    EXPECT_EQ(schedule.milestones.size(), row.takesMilestones ? 2u : 0u);
  }
}

} // namespace
