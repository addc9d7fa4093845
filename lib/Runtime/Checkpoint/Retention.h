// Lists the checkpoints of a folder, selects those to keep, and removes the others.
//
//     CK/step-00001000/           a checkpoint if it contains checkpoint.json, else remains of an interrupted run
//     CK/step-00001000.before/    the previous checkpoint of the same step, while its successor is written
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_RETENTION_H
#define XLC_LIB_RUNTIME_CHECKPOINT_RETENTION_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xlc::runtime {

/// The folder of the checkpoint of a step.
std::string folderOfStep(const std::string &dir, uint64_t step);

/// A folder in `dir` with the name of a step's checkpoint.
struct StepFolder {
  uint64_t step = 0;
  std::string path;
  bool hasManifest = false, isBefore = false;
};

/// All such folders, the newest first; of two for the same step, the replacement comes first. Does not check that they
/// are complete. If `dir` does not exist, the list is empty.
std::vector<StepFolder> listStepFolders(const std::string &dir);

/// Creates an empty folder for a step. An existing checkpoint of the step is renamed, and remains of an interrupted run
/// are removed. Throws Rejected.
void makeFolder(const std::string &dir, uint64_t step);

/// Removes a checkpoint. The manifest is removed first, durably, before any other file. Throws Rejected.
void removeCheckpoint(const std::string &folder);
/// Removes the remains of an incomplete checkpoint, as far as possible, and restores the one that was renamed.
void removeTorn(const std::string &dir, uint64_t step);

/// The checkpoints to keep: the `keep` newest (0: all), multiples of `every` (0: none), and that of the step with the
/// best evaluation.
struct Retention {
  uint64_t keep = 0, every = 0;
  std::optional<uint64_t> best = std::nullopt;
};

/// The checkpoints to remove once the newest is durable, the oldest first.
std::vector<StepFolder> findOutdated(const std::vector<StepFolder> &folders, const Retention &rule);

/// Makes files that were renamed or created in a folder durable. Throws Rejected.
void syncFolder(const std::string &path);

} // namespace xlc::runtime

#endif
