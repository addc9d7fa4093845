// Counts the residuals that are in memory at once, while the actions run. A slot holds the residuals of one micro-batch
// between a transfer and the next (of one chunk of the stage). It is taken when forward writes its first residual, and
// released when backward has read the last.
#ifndef XLC_LIB_RUNTIME_PLAN_RESIDUALSLOTS_H
#define XLC_LIB_RUNTIME_PLAN_RESIDUALSLOTS_H

#include "Plan.h"

#include <vector>

namespace xlc::runtime {

class ResidualSlots {
public:
  ResidualSlots(const Plan &plan, const plan::ProgramT &program) : program(program), filling(plan.micro_batches, -1) {}

  /// Starts a new step.
  void clear();
  /// Call after action `index` of the program.
  void endAction(const plan::StepT &step, uint64_t index);
  /// The largest number of slots taken at once.
  uint64_t peak() const { return mostTaken; }

private:
  const plan::ProgramT &program;
  std::vector<int> filling; ///< by micro-batch: the number of the slot that forward is filling, -1: none
  std::vector<int> ends;    ///< by slot: the last action that reads it
  uint64_t mostTaken = 0;
};

} // namespace xlc::runtime

#endif
