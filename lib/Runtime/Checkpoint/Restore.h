// From a checkpoint to the arena of a rank, whatever layout, precision and target it was written by: each rank reads
// the elements that it holds, wherever they lie.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_RESTORE_H
#define XLC_LIB_RUNTIME_CHECKPOINT_RESTORE_H

#include "Checkpoint.h"
#include "Files/Parameters.h"

namespace xlc::runtime {

/// What differs between a checkpoint and a plan that is to go on with it, model and optimizer: up to three differences
/// in a line; empty where it fits.
std::string findDifferences(const Plan &plan, const Manifest &manifest);
/// The same of the model alone: of parameters and running averages.
std::string findDifferencesOfModel(const Plan &plan, const Manifest &manifest);

/// Bytes that a rank has read of a checkpoint, those of the elements that it holds of what checkpoints have, and how long
/// it took.
struct Restored {
  uint64_t read = 0, held = 0, nanoseconds = 0;
};

/// Fills all states of buckets that a rank holds: what is in the checkpoint in the state's type, what is rounded from
/// it, all else zero. Throws Damaged.
Restored restoreStates(const Plan &plan, const Checkpoint &checkpoint, int rank, RankMemory memory);

/// Whether a path is the folder of a checkpoint.
bool isCheckpoint(const std::string &path);

/// Values of parameters for what begins from them alone. The checkpoint outlives it.
class CheckpointParameters final : public ParameterSource {
public:
  /// Throws Rejected where the checkpoint lacks a parameter of the plan.
  CheckpointParameters(const Plan &plan, std::shared_ptr<const Checkpoint> checkpoint);
  void read(size_t index, uint64_t begin, uint64_t count, const Take &take) const override;

private:
  const Plan &plan;
  const std::shared_ptr<const Checkpoint> checkpoint;
};

} // namespace xlc::runtime

#endif
