// The checkpoints of a folder: which there are, which stay, and how one goes.
//
//     CK/step-00001000/           a checkpoint where checkpoint.json is in it, else what an interrupted run has left
//     CK/step-00001000.before/    one of the same step, while its successor is written
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_RETENTION_H
#define XLC_LIB_RUNTIME_CHECKPOINT_RETENTION_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xlc::runtime {

/// The folder of a step's checkpoint.
std::string folderOfStep(const std::string &dir, uint64_t step);

/// A folder of `dir` that has the name of one of a step.
struct StepFolder {
  uint64_t step = 0;
  std::string path;
  bool hasManifest = false, isBefore = false;
};

/// All of them, the newest first, of a step the one that replaces another first; whether they are whole is not looked
/// at. Of a folder that is not there, none.
std::vector<StepFolder> listStepFolders(const std::string &dir);

/// Makes an empty folder for a step; a checkpoint that is there steps aside, what an interrupted run has left there
/// goes. Throws Rejected.
void makeFolder(const std::string &dir, uint64_t step);

/// Removes a checkpoint: first its manifest, which is durable before any other of its files goes. Throws Rejected.
void removeCheckpoint(const std::string &folder);
/// Removes what an attempt to write one has left, as far as that is possible, and puts back what has stepped aside.
void removeTorn(const std::string &dir, uint64_t step);

/// Which checkpoints stay beside the newest: `keep` counts it, 0 is all; of `every` multiples, 0 is none; and that of
/// the step whose evaluation is the best.
struct Retention {
  uint64_t keep = 0, every = 0;
  std::optional<uint64_t> best = std::nullopt;
};

/// Those that go once the newest is durable, the oldest first.
std::vector<StepFolder> findOutdated(const std::vector<StepFolder> &folders, const Retention &rule);

/// Makes what was renamed or made in a folder durable. Throws Rejected.
void syncFolder(const std::string &path);

} // namespace xlc::runtime

#endif
