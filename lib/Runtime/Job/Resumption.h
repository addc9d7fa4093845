// Where a run begins: anew, or where a checkpoint is. All processes of a job look at the same folder, each for itself,
// and agree on the checkpoint when all have read from it what they need: where one finds a damaged block, all take the
// next older one.
#ifndef XLC_LIB_RUNTIME_JOB_RESUMPTION_H
#define XLC_LIB_RUNTIME_JOB_RESUMPTION_H

#include "Checkpoint/Restore.h"
#include "Checkpoint/Retention.h"
#include "Options.h"

namespace xlc::runtime {

/// The folder of a run's checkpoints; empty: it has none.
std::string checkpointFolder(const Plan &plan, const Options &options);

/// What a run is trained on, as a manifest has it. Reads the ends of all files.
SavedData describeData(const Plan &plan, const Data &data, const DataChoice &choice);

class Resumption {
public:
  /// Finds the checkpoints that the options name, and opens the newest that is whole. Throws NoCheckpoint where one was
  /// asked for and none is, Rejected where it is of another model or optimizer.
  Resumption(const Plan &plan, const Options &options);

  /// The checkpoint that the run goes on from; null: it begins.
  const Checkpoint *checkpoint() const { return opened.get(); }
  std::shared_ptr<const Checkpoint> share() const { return opened; }
  /// How many candidates have been found to be of no use.
  uint64_t left() const { return number; }
  /// One of them has damage that opening did not show: this or the next `count` ones are passed over. Throws
  /// NoCheckpoint where none is left.
  void passOver(uint64_t count);

  RunProgress progress() const { return opened ? opened->manifest().progress : RunProgress(); }
  /// What the run knows of its evaluations; none: there was none.
  std::optional<EvaluationState> evaluation() const { return opened ? opened->manifest().evaluation : std::nullopt; }
  /// Of all that is drawn.
  uint64_t seed() const { return opened ? opened->manifest().seed : ownSeed; }

  /// Refuses data of another run, unless the options say that they have changed.
  void checkData(const SavedData &data) const;
  /// In a line: which checkpoint, which was made by what.
  std::string describe() const;

private:
  void open();

  const Plan &plan;
  const Options &options;
  const uint64_t ownSeed;
  std::vector<std::string> candidates; ///< folders, the newest first
  size_t number = 0;                   ///< of the one that is opened, or the first that may be
  std::vector<std::string> reasons;    ///< why candidates were passed over
  std::shared_ptr<const Checkpoint> opened;
};

} // namespace xlc::runtime

#endif
