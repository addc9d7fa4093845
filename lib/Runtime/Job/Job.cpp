// See Job.h.
#include "Job.h"

#include "Crew.h"
#include "Launch.h"
#include "Outputs.h"

#include <fmt/format.h>

#include <cstdlib>

namespace xlc::runtime {
namespace {

std::string describe(const Plan &plan, const Target &target) {
  return fmt::format("trains {} on {} rank{} with {} thread{} each, {} samples a step ({}, plan {}, made by xlc {})",
                     plan.model, rankCount(plan), rankCount(plan) == 1 ? "" : "s", plan.threads,
                     plan.threads == 1 ? "" : "s", globalBatch(plan), target.describe(plan), plan.fingerprint,
                     plan.compiler);
}

/// Steps of which a trace has room for the events.
uint64_t tracedSteps(const Options &options) {
  return options.profile.empty() ? 0 : options.steps.value_or(UINT64_MAX);
}

} // namespace

Exit runProgram(int argc, const char *const *argv, const Embedded &embedded, const Target &target,
                std::atomic<int> &signal) {
  return guard([&] {
    std::unique_ptr<Plan> plan = readPlan(embedded.plan, embedded.planBytes);
    checkPlan(*plan, embedded.codeCount);
    Exit exit = Exit::Done;
    std::optional<Options> options = parseOptions(argc, argv, describe(*plan, target), exit);
    if (!options)
      return exit;
    checkLaunch(std::getenv, rankCount(*plan));
    target.prepareMachine(*plan, options->nativeLibraries);
    checkOutputs(*plan, *options);
    World world(*plan, target, tracedSteps(*options));
    world.provide();
    return Crew(world, embedded, target, *options, signal, /*speaks=*/true).run({0, (int)rankCount(*plan)});
  });
}

} // namespace xlc::runtime
