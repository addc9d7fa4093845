// See PlanCheckers.h. The mesh is checked first: all other checks divide by its sizes.
#include "PlanCheckers.h"

namespace xlc::runtime {

void checkPlan(const Plan &plan, uint64_t kernelCount) {
  std::vector<std::string> problems;
  TableChecker tables(plan, problems);
  MeetingChecker meetings(plan, problems);
  auto programs = [&](auto check) {
    for (const auto &each : plan.programs)
      if (problems.empty())
        check(*each);
  };
  tables.checkSizes();
  if (problems.empty())
    tables.checkStages(), tables.checkMesh();
  if (problems.empty()) {
    CallChecker calls(plan, kernelCount, problems);
    tables.checkStorage();
    ScheduleChecker(plan, problems).check();
    calls.checkKernels(), calls.checkFunctions();
    for (const auto &each : plan.programs) {
      ProgramChecker program(plan, *each, problems);
      program.checkStorage(), program.checkActions();
    }
  }
  programs([&](const plan::ProgramT &each) { meetings.checkShared(each); });
  for (plan::Purpose purpose : plan::EnumValuesPurpose())
    if (problems.empty())
      meetings.checkMeetings(purpose);
  programs([&](const plan::ProgramT &each) { ProgramChecker(plan, each, problems).checkOrder(); });
  if (!problems.empty())
    throw Rejected(fmt::format("error: the plan in this program is damaged:\n  {}", fmt::join(problems, "\n  ")));
}

} // namespace xlc::runtime
