// Writes the two files of a rank in a checkpoint, complete and synced.
//
//     parameters-00003.safetensors    parameters (masters) and running averages
//     states-00003.safetensors        states of the optimizer: "m/NAME"
//
// An entry is a whole tensor in its shape, or a piece (Files/Seal.h). A rank without entries for one of the files does
// not write that file.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_WRITER_H
#define XLC_LIB_RUNTIME_CHECKPOINT_WRITER_H

#include "Files/Parameters.h"
#include "Replicas.h"

#include <atomic>

namespace xlc::runtime {

/// A copy of the states that a rank writes, in host memory.
class StateCopy {
public:
  /// Copies all states, or only those that change outside updates.
  StateCopy(const Plan &plan, int rank, const ReadState &read, bool all);
  /// Reads bytes in the copy, if it has them, and others through `read`.
  ReadState before(ReadState read) const;
  /// The size of the copy.
  uint64_t bytes() const;

private:
  const char *find(uint64_t offset, uint64_t bytes) const;

  std::map<uint64_t, std::vector<char>> runs; ///< by offset in the arena
};

/// A step that goes on while the files are written, and waits before it changes what they contain.
struct WaitingStep {
  std::atomic<bool> isWaiting = false; ///< set by the step: reading the memory then takes precedence over the disk
  std::function<void()> afterReading;  ///< called when all states are read, which is before the files are durable
};

/// Writes the files into a folder. `values`: the initial values of parameters. The required memory is 5 MiB plus the
/// headers. With a `step`, the files bypass the page cache (OutputFile::bypassCache). Throws Rejected, with the name of
/// the file, if one cannot be written; then none of the files of this rank remains.
void writeFiles(const Plan &plan, int rank, const InitialValues &values, const ReadState &read,
                const std::string &folder, const WaitingStep *step = nullptr);

/// The bytes of the files that a rank writes, and of a StateCopy of all states or of those that change outside updates.
struct WrittenBytes {
  uint64_t files = 0, copy = 0, copyBesideUpdates = 0;
};
WrittenBytes measureFiles(const Plan &plan, int rank);

/// Completes a manifest with the files in a folder, which all ranks have written, and with the places of all tensors.
/// Throws Rejected if a file is missing or does not have the contents that its rank has to write.
void listFiles(const Plan &plan, const std::string &folder, Manifest &manifest);

} // namespace xlc::runtime

#endif
