// See ResidualSlots.h. lib/Estimate/ResidualSlots.cpp counts the slots of the `exec` program in the same way.
#include "ResidualSlots.h"

#include <algorithm>

namespace xlc::runtime {

void ResidualSlots::clear() {
  ends.clear();
  std::fill(filling.begin(), filling.end(), -1);
}

void ResidualSlots::endAction(const plan::StepT &step, uint64_t index) {
  const plan::RunT *run = step.action.AsRun();
  if (step.action.AsSend() || step.action.AsReceive())
    std::fill(filling.begin(), filling.end(), -1);
  if (!run || !step.label.ends_with(" F"))
    return;
  int last = -1;
  for (const plan::Place &place : run->places) {
    const plan::BufferT &buffer = *program.buffers[place.buffer()];
    bool isNew = buffer.first == (int)index && buffer.last > buffer.first;
    if (isNew && buffer.cause == plan::Cause::Residuals)
      last = std::max(last, buffer.last);
  }
  if (last < 0)
    return;
  int &slot = filling[run->micro_batch];
  if (slot < 0) {
    slot = (int)ends.size();
    ends.push_back(last);
  }
  ends[slot] = std::max(ends[slot], last);
  auto isTaken = [&](int end) { return end >= (int)index; };
  mostTaken = std::max<uint64_t>(mostTaken, std::count_if(ends.begin(), ends.end(), isTaken));
}

} // namespace xlc::runtime
