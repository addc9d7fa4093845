// How many residuals are in memory at once, counted while the actions run. A slot is what forward keeps of one
// micro-batch between a transfer and the next (of one chunk of the stage): it is taken when forward writes its first
// residual, and free when backward has read the last.
#ifndef XLC_LIB_RUNTIME_PLAN_RESIDUALSLOTS_H
#define XLC_LIB_RUNTIME_PLAN_RESIDUALSLOTS_H

#include "Plan.h"

#include <vector>

namespace xlc::runtime {

class ResidualSlots {
public:
  ResidualSlots(const Plan &plan, const plan::ProgramT &program) : program(program), filling(plan.micro_batches, -1) {}

  /// A new step begins.
  void clear();
  /// Action `index` of the program has been done.
  void endAction(const plan::StepT &step, uint64_t index);
  /// Most slots that were taken at once.
  uint64_t peak() const { return mostTaken; }

private:
  const plan::ProgramT &program;
  std::vector<int> filling; ///< by micro-batch: the number of the slot that forward is filling, -1: none
  std::vector<int> ends;    ///< by slot: the last action that reads it
  uint64_t mostTaken = 0;
};

} // namespace xlc::runtime

#endif
