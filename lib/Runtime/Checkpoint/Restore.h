// Restores the arena of a rank from a checkpoint of any layout, precision and target: each rank reads the elements that
// it holds, from whichever files contain them.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_RESTORE_H
#define XLC_LIB_RUNTIME_CHECKPOINT_RESTORE_H

#include "Checkpoint.h"
#include "Files/Parameters.h"

namespace xlc::runtime {

/// Compares model and optimizer of a checkpoint with those of a plan that is to continue it. Returns up to three
/// differences in a line, or nothing if they match.
std::string findDifferences(const Plan &plan, const Manifest &manifest);
/// The same for the model only: for parameters and running averages.
std::string findDifferencesOfModel(const Plan &plan, const Manifest &manifest);

/// The bytes that a rank has read from a checkpoint, the bytes of those of its elements that checkpoints contain, and
/// the time taken.
struct Restored {
  uint64_t read = 0, held = 0, nanoseconds = 0;
};

/// Fills all states of buckets that a rank holds: from the checkpoint in the state's type, or rounded from it; all
/// other bytes with zero. Throws Damaged.
Restored restoreStates(const Plan &plan, const Checkpoint &checkpoint, int rank, RankMemory memory);

/// Whether a path is the folder of a checkpoint.
bool isCheckpoint(const std::string &path);

/// Initial values of parameters, for a run that starts from them only. The checkpoint outlives this object.
class CheckpointParameters final : public ParameterSource {
public:
  /// Throws Rejected if the checkpoint lacks a parameter of the plan.
  CheckpointParameters(const Plan &plan, std::shared_ptr<const Checkpoint> checkpoint);
  void read(size_t index, uint64_t begin, uint64_t count, const Take &take) const override;

private:
  const Plan &plan;
  const std::shared_ptr<const Checkpoint> checkpoint;
};

} // namespace xlc::runtime

#endif
