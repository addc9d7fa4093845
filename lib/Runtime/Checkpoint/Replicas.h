// Ranks that hold the same elements must hold the same bits. A difference indicates a fault of a rank's memory or
// processor, and a checkpoint would make it permanent. Each rank writes checksums of its shared elements next to its
// files, and rank 0 compares them before the checkpoint becomes valid:
//
//     CK/step-00001000/compared-00003     16 digits for each part, in the order of forEachSharedPart
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_REPLICAS_H
#define XLC_LIB_RUNTIME_CHECKPOINT_REPLICAS_H

#include "Ownership.h"

namespace xlc::runtime {

/// Returns bytes of the rank's arena, beginning at an offset: in place, or read into `room`, which has room for them.
using ReadState = std::function<const char *(uint64_t offset, uint64_t bytes, char *room)>;

/// The digits of all parts that a rank shares with others. Reads all of their elements.
std::string digestShared(const Plan &plan, int rank, const ReadState &read);

/// Writes the digits into the folder of a checkpoint, or nothing if they are empty. Throws Rejected.
void writeShared(const std::string &folder, int rank, const std::string &digits);

/// Reads and removes the files of all ranks. Returns a line with the rank whose elements differ from those of the
/// others and the name of the tensor, or nothing. Throws Rejected if a file is missing or has the wrong length.
std::string compareShared(const Plan &plan, const std::string &folder);

/// The same for digits that have been read, indexed by rank.
std::string findDifferentRank(const Plan &plan, const std::vector<std::string> &digits);

} // namespace xlc::runtime

#endif
