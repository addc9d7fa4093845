// Exports a checkpoint for other programs: whole tensors in one safetensors file, or in several with an index, as in
// models of Hugging Face. Also finds damage in a checkpoint. Both functions read block by block and never hold a whole
// tensor.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_EXPORT_H
#define XLC_LIB_RUNTIME_CHECKPOINT_EXPORT_H

#include "Checkpoint.h"

namespace xlc::runtime {

/// Verifies all blocks. Returns at most 100 lines, each of which describes one error with file, tensor and elements.
std::vector<std::string> findDamage(const Checkpoint &checkpoint);

struct ExportChoice {
  bool states = false;     ///< also export the states of the optimizer, as "m/NAME"
  std::string dtype;       ///< the type of floating-point parameters: "F32", "BF16", "F16"; empty: unchanged
  uint64_t shardBytes = 0; ///< the size limit of a file, beyond which several are written; 0: one file
};

/// Writes `path`, a .safetensors file. With shardBytes, writes model-00001-of-00003.safetensors and so on and
/// model.safetensors.index.json into the folder `path`, which is created if it is missing. Returns the names of the
/// files. Throws Rejected, or Damaged if a block is damaged.
std::vector<std::string> exportCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                                          const ExportChoice &choice);

struct ExportedAdapter {
  std::vector<std::string> files;
  std::vector<std::string> leftOut; ///< see Adapter::leftOut
};

/// Writes adapter_model.safetensors (Adapter.h) into `folder`, which is created if it is missing. A copy of the file
/// `config` is written next to it as adapter_config.json; if `config` is empty, none is written. Only the type of
/// `choice` is used. Throws the errors of exportCheckpoint and findAdapter.
ExportedAdapter exportAdapter(const Checkpoint &checkpoint, const std::string &folder, const std::string &config,
                              const ExportChoice &choice);

} // namespace xlc::runtime

#endif
