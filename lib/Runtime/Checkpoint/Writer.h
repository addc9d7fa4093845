// What a rank writes of a checkpoint: its two files, whole and synced.
//
//     parameters-00003.safetensors    of parameters (masters) and running averages
//     states-00003.safetensors        of the optimizer's states: "m/NAME"
//
// An entry is a whole tensor in its shape, or a piece (Files/Seal.h). A rank that owns nothing of one of them has no
// such file.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_WRITER_H
#define XLC_LIB_RUNTIME_CHECKPOINT_WRITER_H

#include "Files/Parameters.h"
#include "Replicas.h"

namespace xlc::runtime {

/// A copy of what a rank writes, in memory of the host.
class StateCopy {
public:
  /// Of all of it, or of what changes beside updates alone.
  StateCopy(const Plan &plan, int rank, const ReadState &read, bool all);
  /// Whether it has these bytes; then they are in `to`.
  bool read(uint64_t offset, uint64_t bytes, void *to) const;
  /// What it takes.
  uint64_t bytes() const;

private:
  std::map<uint64_t, std::vector<char>> runs; ///< by their place in the arena
};

/// Writes them into a folder. `values`: what parameters began with. Memory: 1 MiB beside the headers. Throws Rejected,
/// naming the file, where one cannot be written; it then leaves no file of its own.
void writeFiles(const Plan &plan, int rank, const InitialValues &values, const ReadState &read,
                const std::string &folder);

/// Bytes of the files that a rank writes, and of a StateCopy of all of it, or of what changes beside updates alone.
struct WrittenBytes {
  uint64_t files = 0, copy = 0, copyBesideUpdates = 0;
};
WrittenBytes measureFiles(const Plan &plan, int rank);

/// Completes a manifest with the files of a folder that all ranks have written, and with what lies where. Throws
/// Rejected where one is missing or is not what its rank has to write.
void listFiles(const Plan &plan, const std::string &folder, Manifest &manifest);

} // namespace xlc::runtime

#endif
