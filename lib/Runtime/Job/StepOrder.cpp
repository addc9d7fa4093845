// See StepOrder.h.
#include "StepOrder.h"

#include <algorithm>
#include <map>

namespace xlc::runtime {
namespace {

/// The fields of a key, the first counts most: micro-batch, pass, stage (behind each other in one word), call, rank.
constexpr unsigned bitsOfMicroBatch = 12, bitsOfPass = 2, bitsOfStage = 10, bitsOfCall = 24, bitsOfRank = 16;
static_assert(bitsOfMicroBatch + bitsOfPass + bitsOfStage + bitsOfCall + bitsOfRank == 64);

enum Pass : uint64_t { Forward, Backward, Neither };

uint64_t pack(uint64_t before, uint64_t value, unsigned bits) {
  return before << bits | std::min(value, ((uint64_t)1 << bits) - 1);
}

Pass passOf(const plan::StepT &step) {
  for (auto [end, pass] : {std::pair(" F", Forward), {" B", Backward}, {" I", Backward}, {" W", Backward}})
    if (step.label.ends_with(end))
      return pass;
  return Neither;
}

} // namespace

std::vector<Moment> momentsOf(const Plan &plan, const plan::ProgramT &program) {
  uint64_t pp = plan.mesh->pp();
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> visits; // by pass and micro-batch
  std::pair<uint64_t, uint64_t> last{Neither, 0};
  auto runOrder = [&](const plan::StepT &step) {
    const plan::RunT &run = *step.action.AsRun();
    Pass pass = passOf(step);
    if (pass == Neither)
      return pack(pack(pack(0, UINT64_MAX, bitsOfMicroBatch), Neither, bitsOfPass), 0, bitsOfStage);
    std::pair<uint64_t, uint64_t> own{pass, run.micro_batch};
    uint64_t &count = visits[own];
    count += own != last, last = own;
    uint64_t place = (count - 1) * pp + (pass == Forward ? program.stage : pp - 1 - program.stage);
    return pack(pack(pack(0, run.micro_batch, bitsOfMicroBatch), pass, bitsOfPass), place, bitsOfStage);
  };
  std::vector<Moment> moments(program.steps.size());
  uint64_t calls = 0, before = 0;
  for (size_t i = 0; i < moments.size(); ++i) {
    const plan::ActionUnion &action = program.steps[i]->action;
    moments[i].calls = calls++;
    if (const auto *run = action.AsRun()) {
      calls += plan.functions[run->function]->calls.size();
      before = runOrder(*program.steps[i]);
    }
    moments[i].order = before;
  }
  uint64_t next = before;
  for (size_t i = moments.size(); i-- > 0;) {
    const plan::ActionUnion &action = program.steps[i]->action;
    const auto *exchange = action.AsExchange();
    if (action.AsRun())
      next = moments[i].order;
    else if (action.AsLoad() || (exchange && exchange->kind == plan::CollectiveKind::all_gather))
      moments[i].order = next;
  }
  return moments;
}

uint64_t keyOfPlace(uint64_t order, uint64_t call, int rank) {
  return pack(pack(order, call, bitsOfCall), (uint64_t)rank, bitsOfRank);
}

bool isOfMicroBatch(const plan::StepT &step) { return step.action.AsRun() && passOf(step) != Neither; }

} // namespace xlc::runtime
