// Converts files of other programs (Files/TensorFiles.h) to a checkpoint in the form that one rank would write. It
// contains no description of the data: a run continues at the sample that the importer names, whatever the rows are.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_IMPORT_H
#define XLC_LIB_RUNTIME_CHECKPOINT_IMPORT_H

#include "Files/TensorFiles.h"
#include "Manifest.h"

namespace xlc::runtime {

struct ImportChoice {
  std::string states; ///< a file or folder of the optimizer's states, "m/NAME"; empty: with the parameters, if anywhere
  std::string optimizer;          ///< its type; empty: unknown
  uint64_t step = 0, samples = 0; ///< completed so far
  uint64_t seed = 0;              ///< of all random draws after the import
  std::string compiler;           ///< the version that wrote the manifest
};

struct Imported {
  uint64_t parameters = 0, states = 0; ///< numbers of tensors
  std::vector<std::string> leftOut;    ///< names of tensors whose elements are not floats
};

/// Reads the file or folder `from` and creates the folder `to`, which must not exist. A tensor "m/w" is the state m of
/// the parameter w if there is a tensor w. The required memory is one block. Throws Rejected and then leaves no folder
/// behind.
Imported importCheckpoint(const std::string &from, const std::string &to, const ImportChoice &choice);

} // namespace xlc::runtime

#endif
