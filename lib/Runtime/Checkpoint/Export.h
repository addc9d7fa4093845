// A checkpoint as other programs take it: whole tensors in one safetensors file, or in several with an index, as
// Hugging Face has them. And what of it is damaged. Both read block by block, and hold no tensor.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_EXPORT_H
#define XLC_LIB_RUNTIME_CHECKPOINT_EXPORT_H

#include "Checkpoint.h"

namespace xlc::runtime {

/// Verifies all blocks; what is wrong, with file, tensor and elements, one line each, at most 100.
std::vector<std::string> findDamage(const Checkpoint &checkpoint);

struct ExportChoice {
  bool states = false;     ///< those of the optimizer too, as "m/NAME"
  std::string dtype;       ///< of floats of parameters: "F32", "BF16", "F16"; empty: as they are
  uint64_t shardBytes = 0; ///< more than one file where that is less than all; 0: one
};

/// Writes `path`, a .safetensors file; or, with shardBytes, model-00001-of-00003.safetensors and so on and
/// model.safetensors.index.json into the folder `path`, which is made where it is missing. Returns the names of the
/// files. Throws Rejected, and Damaged where a block is.
std::vector<std::string> exportCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                                          const ExportChoice &choice);

struct ExportedAdapter {
  std::vector<std::string> files;
  std::vector<std::string> leftOut; ///< as Adapter::leftOut
};

/// Writes adapter_model.safetensors (Adapter.h) into `folder`, which is made where it is missing, and beside it a copy
/// of the file `config` as adapter_config.json; empty: none. Of `choice` it takes the type. Throws as above, and as
/// findAdapter.
ExportedAdapter exportAdapter(const Checkpoint &checkpoint, const std::string &folder, const std::string &config,
                              const ExportChoice &choice);

} // namespace xlc::runtime

#endif
