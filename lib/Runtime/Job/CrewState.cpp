// See CrewState.h.
#include "CrewState.h"

#include "Speaker.h"

namespace xlc::runtime {

CrewState::CrewState(const World &world, const Embedded &embedded, const Target &target,
                     const std::unique_ptr<Machine> &machine, const Options &options, const Settings &settings,
                     const std::atomic<int> &signal, bool speaks)
    : world(world), plan(world.plan), target(target), machine(machine), setup(setupOf(world, embedded, options)),
      options(options), signal(signal), resumption(plan, options), data(plan, choiceOfRun(plan, options, resumption)),
      validation(openValidation(plan, options)), predictions(openPredictions(plan, options, validation.get())),
      generation(options.generate ? std::make_unique<Generation>(plan, options) : nullptr),
      examination(plan, world.request(), signal,
                  options.checksNan ? Examination::Step::Observed : Examination::Step::RunAgain,
                  [this](int rank) { return memoryOf(rank); }),
      norms(
          plan, [this](int rank) { return memoryOf(rank); }, [&world](int rank) { return world.normsOf(rank); }),
      described(describeOfRun(plan, options, data, resumption)), values(openValues(plan, options, resumption)),
      steps(countSteps(plan, options, data, resumption.progress())), schedule(scheduleOfRun(plan, steps)),
      prefetch(plan, data, world.stop()), rows(plan, prefetch, data),
      slowLink(options.linkRate ? std::make_unique<SlowFabric>(world.ranksMeet(), *options.linkRate, rankCount(plan))
                                : nullptr),
      saving(world, options, settings, speaks),
      speaker(speaks ? std::make_unique<Speaker>(world, options, data) : nullptr) {}

CrewState::~CrewState() = default;

} // namespace xlc::runtime
