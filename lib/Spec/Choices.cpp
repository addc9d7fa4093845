// See Choices.h.
#include "Choices.h"

#include "xlc/Pipeline/Pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;

namespace xlc::spec {

template <class Rows> static std::string namesOf(const Rows &rows) {
  return join(map_range(rows, [](const auto &row) { return StringRef(row.name).str(); }), "|");
}

std::string optimizerNames() { return namesOf(getOptimizers()); }

std::string ofTakers(HyperParameter which, StringRef words) { return (describeTakers(which) + ": " + words).str(); }

std::string rateScheduleNames() { return namesOf(runtime::kSchedules); }

std::string ofTakers(runtime::ScheduleKey which, StringRef words) {
  return (listTakers(which, ", ") + ": " + words).str();
}

std::string listTakers(runtime::ScheduleKey which, StringRef last) {
  SmallVector<StringRef> names;
  for (const runtime::ScheduleRow &row : runtime::kSchedules)
    if (row.find(which))
      names.push_back(row.name);
  StringRef end = names.pop_back_val();
  return names.empty() ? end.str() : (join(names, ", ") + last + end).str();
}

std::string scheduleNames() { return namesOf(getPipelineSchedules()); }

std::string describeDefaultChunks() {
  std::map<int64_t, SmallVector<StringRef>> schedules;
  for (const PipelineSchedule &row : getPipelineSchedules())
    schedules[row.leastChunks].push_back(row.name);
  std::string text = "1";
  for (const auto &[chunks, names] : schedules)
    if (chunks > 1)
      text += ", or " + std::to_string(chunks) + " with " + join(names, " and ");
  return text;
}

std::string targetNames() { return namesOf(kTargetFacts); }

std::string describeTargets() {
  return join(map_range(kTargetFacts, [](const TargetFacts &row) { return row.madeFor.str(); }), ", or ");
}

std::string describeTargets(bool TargetFacts::*fact, bool value) {
  auto rows = make_filter_range(kTargetFacts, [&](const TargetFacts &row) { return row.*fact == value; });
  return join(map_range(rows, [](const TargetFacts &row) { return row.name.str(); }), " or ");
}

} // namespace xlc::spec
