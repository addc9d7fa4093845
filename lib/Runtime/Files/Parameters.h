// Initial values of the parameters, and the way back to a file.
#ifndef XLC_LIB_RUNTIME_FILES_PARAMETERS_H
#define XLC_LIB_RUNTIME_FILES_PARAMETERS_H

#include "Device/Device.h"
#include "ParameterFile.h"
#include "State/States.h"

namespace xlc::runtime {

/// Where initial values come from: a file (all of them, or those the plan says), and a seed for the random ones.
struct InitialValues {
  std::unique_ptr<ParameterSource> file; ///< none: no parameter needs one
  bool allFromFile = false;              ///< --init: also those that would begin at zero, one or random
  uint64_t seed = 0;
};

/// Opens `initPath`, or, where that is empty and the plan needs a file, `besidePath`; checks names, types and shapes
/// and throws Rejected with all that is wrong.
InitialValues openInitialValues(const Plan &plan, const std::string &initPath, const std::string &besidePath,
                                uint64_t seed);

/// The memory of a rank.
struct RankMemory {
  Device *device;
  char *arena;
  bool isOfHost = false; ///< the host may write there itself
};

/// Writes elements of a state, from element `at` of its bucket on: those that `give` gives, in type `from`.
void writeRun(const HeldState &held, uint64_t at, RankMemory memory, plan::Element from,
              const std::function<void(const Take &take)> &give);

/// The parameters of each bucket, by their places in the plan.
std::vector<std::vector<size_t>> membersOfBuckets(const Plan &plan);

/// Puts elements [begin, begin + count) with which a parameter begins, as files hold them.
void putInitial(const Plan &plan, size_t index, const InitialValues &values, uint64_t begin, uint64_t count, char *to);

/// Fills the states of every bucket that `rank` holds with what they begin with.
void initializeStates(const Plan &plan, const InitialValues &values, int rank, RankMemory memory);

/// Reads bytes of a rank's arena from an offset on.
using ReadArena = std::function<void(int rank, uint64_t offset, uint64_t bytes, void *to)>;

/// Which parameters a file has: running averages of norms are not trained. Average: all, with `ema` of the spec in
/// place of those that are trained.
enum class Saved { All, Trained, Average };

/// Writes parameters in the plan's order, under each of their names. Of what is frozen and held in sixteen bits, which
/// is no more than a rounded copy, the values that it began with are written.
void saveParameters(const Plan &plan, Saved which, const InitialValues &values, const ReadArena &read,
                    const std::string &path);

} // namespace xlc::runtime

#endif
