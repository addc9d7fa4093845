// The streams of a program as a device has them.
#include "Cuda/Streams.h"
#include "SimulatedMachine.h"

#include <dlfcn.h>

namespace xlc::test {
namespace {

/// Of one program of one action on each of some streams, which holds no memory.
Plan makePlan(std::initializer_list<plan::Stream> streams) {
  Plan plan;
  plan::ProgramT &program = *plan.programs.emplace_back(std::make_unique<plan::ProgramT>());
  for (plan::Stream stream : streams) {
    program.steps.push_back(std::make_unique<plan::StepT>());
    program.steps.back()->stream = stream;
  }
  return plan;
}

/// As the device has it: the more urgent, the smaller.
int priorityOf(Stream stream) {
  void *library = dlopen(XLC_SIMULATED_LIBRARIES "/libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto ask = (Status (*)(Stream, int *))dlsym(library, "cuStreamGetPriority");
  int priority = 1;
  expect(ask(stream, &priority) == success);
  return priority;
}

TEST(Streams, MessagesAreTheMostUrgentAndGradientsOfWeightsTheLeast) {
  expectGood("early", [](Bench &bench) {
    Plan plan = makePlan({plan::Stream::compute, plan::Stream::weights, plan::Stream::gather});
    Streams streams(bench.driver, plan, 0, false);
    std::vector<int> found;
    for (uint64_t action : {0, 1, 2}) {
      streams.beginAction(action);
      found.push_back(priorityOf(streams.current()));
      streams.endAction(action);
    }
    expect(found[2] < found[0] && found[0] < found[1]);
    expect(found[1] == 0); // the least that there is
  });
}

TEST(Streams, AProgramInlineHasOne) {
  expectGood("early", [](Bench &bench) {
    Plan plan = makePlan({plan::Stream::compute, plan::Stream::reduce});
    Streams streams(bench.driver, plan, 0, true);
    streams.beginAction(0);
    Stream first = streams.current();
    streams.endAction(0);
    streams.beginAction(1);
    expect(streams.current() == first);
    streams.endAction(1);
  });
}

} // namespace
} // namespace xlc::test
