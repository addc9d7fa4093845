// Ranks that hold the same elements hold the same bits: one that does not has a fault of its memory or its processor,
// and a checkpoint of it would make that last. Each rank writes checksums of what it shares with others beside its
// files, rank 0 compares them before the checkpoint counts:
//
//     CK/step-00001000/compared-00003     16 digits for each part, in the order of forEachSharedPart
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_REPLICAS_H
#define XLC_LIB_RUNTIME_CHECKPOINT_REPLICAS_H

#include "Ownership.h"

namespace xlc::runtime {

/// Reads bytes of the rank's arena from an offset on.
using ReadState = std::function<void(uint64_t offset, uint64_t bytes, void *to)>;

/// The digits of all that a rank shares with others. Reads all of it.
std::string digestShared(const Plan &plan, int rank, const ReadState &read);

/// Writes them into the folder of a checkpoint, or nothing where there are none. Throws Rejected.
void writeShared(const std::string &folder, int rank, const std::string &digits);

/// Reads what all ranks have written, and removes it. Which rank holds other elements than others, and of which tensor:
/// a line, or nothing. Throws Rejected where a file is missing or is not as long as it has to be.
std::string compareShared(const Plan &plan, const std::string &folder);

/// The same of digits that have been read, by rank.
std::string findDifferentRank(const Plan &plan, const std::vector<std::string> &digits);

} // namespace xlc::runtime

#endif
