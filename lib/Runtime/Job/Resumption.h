// The start of a run: from initial values, or from a checkpoint. Each process of a job reads the same folder on its
// own. The processes agree on the checkpoint when all have read their parts of it: if one finds a damaged block, all
// take the next older checkpoint.
#ifndef XLC_LIB_RUNTIME_JOB_RESUMPTION_H
#define XLC_LIB_RUNTIME_JOB_RESUMPTION_H

#include "Checkpoint/Restore.h"
#include "Checkpoint/Retention.h"
#include "Options.h"

namespace xlc::runtime {

/// The folder of a run's checkpoints; empty if it has none.
std::string checkpointFolder(const Plan &plan, const Options &options);

/// The description of the training data in a manifest. Reads the ends of all files.
SavedData describeData(const Plan &plan, const Data &data, const DataChoice &choice);

class Resumption {
public:
  /// Finds the checkpoints that the options name, and opens the newest complete one. Throws NoCheckpoint if one is
  /// required and there is none, Rejected if it belongs to another model or optimizer.
  Resumption(const Plan &plan, const Options &options);

  /// The checkpoint from which the run is resumed; null if it starts anew.
  const Checkpoint *checkpoint() const { return opened.get(); }
  std::shared_ptr<const Checkpoint> share() const { return opened; }
  /// The number of candidates that were found to be unusable.
  uint64_t left() const { return number; }
  /// Passes over a checkpoint with damage that was not detected when it was opened: this one or the next `count` ones.
  /// Throws NoCheckpoint if none remains.
  void passOver(uint64_t count);

  RunProgress progress() const { return opened ? opened->manifest().progress : RunProgress(); }
  /// The state of the run's evaluations; none: there was no evaluation.
  std::optional<EvaluationState> evaluation() const { return opened ? opened->manifest().evaluation : std::nullopt; }
  /// The seed of all random draws.
  uint64_t seed() const { return opened ? opened->manifest().seed : ownSeed; }

  /// Rejects data that differ from those of the earlier run, unless the options state that they have changed.
  void checkData(const SavedData &data) const;
  /// A line that names the checkpoint and its origin.
  std::string describe() const;

private:
  void open();

  const Plan &plan;
  const Options &options;
  const uint64_t ownSeed;
  std::vector<std::string> candidates; ///< the folders of checkpoints, the newest first
  size_t number = 0;                   ///< index of the opened candidate, or of the first that may be opened
  std::vector<std::string> reasons;    ///< the reasons why candidates were passed over
  std::shared_ptr<const Checkpoint> opened;
};

} // namespace xlc::runtime

#endif
