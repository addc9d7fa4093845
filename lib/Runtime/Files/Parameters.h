// Initial values of the parameters, and saving them to a file.
#ifndef XLC_LIB_RUNTIME_FILES_PARAMETERS_H
#define XLC_LIB_RUNTIME_FILES_PARAMETERS_H

#include "Device/Device.h"
#include "ParameterFile.h"
#include "State/States.h"

namespace xlc::runtime {

/// The sources of initial values: a file (for all, or for those that the plan names), and a seed for random values.
struct InitialValues {
  std::unique_ptr<ParameterSource> file; ///< null: no parameter requires one
  bool allFromFile = false;              ///< --init: also those whose initial values are zero, one or random
  uint64_t seed = 0;
};

/// Opens `initPath` or, if it is empty and the plan requires a file, `besidePath`. Checks names, types and shapes.
/// Throws Rejected with all errors.
InitialValues openInitialValues(const Plan &plan, const std::string &initPath, const std::string &besidePath,
                                uint64_t seed);

/// The memory of a rank.
struct RankMemory {
  Device *device;
  char *arena;
  bool isOfHost = false; ///< the host may write to it directly
};

/// Writes elements of a state, beginning at element `at` of its bucket. The elements come from `give`, in type `from`.
void writeRun(const HeldState &held, uint64_t at, RankMemory memory, plan::Element from,
              const std::function<void(const Take &take)> &give);

/// The parameters of each bucket, as indices of the plan.
std::vector<std::vector<size_t>> membersOfBuckets(const Plan &plan);

/// Writes elements [begin, begin + count) of a parameter's initial values, in the type of files.
void putInitial(const Plan &plan, size_t index, const InitialValues &values, uint64_t begin, uint64_t count, char *to);

/// Fills the states of every bucket that `rank` holds with their initial values.
void initializeStates(const Plan &plan, const InitialValues &values, int rank, RankMemory memory);

/// Reads bytes of a rank's arena, beginning at an offset.
using ReadArena = std::function<void(int rank, uint64_t offset, uint64_t bytes, void *to)>;

/// The parameters of a file. Running averages of norms are not trained. Average: all, with `ema` of the spec in place
/// of the trained values.
enum class Saved { All, Trained, Average };

/// Writes parameters in the plan's order, under each of their names. For a frozen parameter held in sixteen bits, which
/// is only a rounded copy, its initial values are written.
void saveParameters(const Plan &plan, Saved which, const InitialValues &values, const ReadArena &read,
                    const std::string &path);

} // namespace xlc::runtime

#endif
