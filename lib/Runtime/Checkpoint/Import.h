// A checkpoint of what other programs have saved (Files/TensorFiles.h), as one rank would write it. It says nothing of
// the data: a run goes on at the sample that the importer names, whatever the rows are.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_IMPORT_H
#define XLC_LIB_RUNTIME_CHECKPOINT_IMPORT_H

#include "Files/TensorFiles.h"
#include "Manifest.h"

namespace xlc::runtime {

struct ImportChoice {
  std::string
      states; ///< a file or folder of the optimizer's states, "m/NAME"; empty: they are with the parameters, if anywhere
  std::string optimizer;          ///< its type; empty: not known
  uint64_t step = 0, samples = 0; ///< done until then
  uint64_t seed = 0;              ///< of all that is drawn from there on
  std::string compiler;           ///< the version that says so
};

struct Imported {
  uint64_t parameters = 0, states = 0; ///< tensors
  std::vector<std::string> leftOut;    ///< names of tensors that are not floats
};

/// Reads the file or folder `from` and makes the folder `to`, which must be new. A tensor "m/w" is the state m of the
/// parameter w, where there is a tensor w. Memory: a block. Throws Rejected; it then leaves no folder.
Imported importCheckpoint(const std::string &from, const std::string &to, const ImportChoice &choice);

} // namespace xlc::runtime

#endif
