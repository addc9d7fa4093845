// The PEFT adapter in a checkpoint, with the names of adapter_model.safetensors: they begin with the name of PEFT's
// model, whatever module that was in, and omit the name of the adapter, which is chosen when the file is loaded.
//
//     model.base_model.model.h.0.attn.c_attn.lora_A.default.weight     in the checkpoint
//           base_model.model.h.0.attn.c_attn.lora_A.weight             in the file
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_ADAPTER_H
#define XLC_LIB_RUNTIME_CHECKPOINT_ADAPTER_H

#include "Checkpoint.h"

namespace xlc::runtime {

struct AdapterTensor {
  const SavedTensor *tensor;
  std::string name; ///< in adapter_model.safetensors
};

struct Adapter {
  std::vector<AdapterTensor> tensors;
  std::vector<std::string> leftOut; ///< trained parameters outside PEFT's model
};

/// Finds the parameters of PEFT's model that have the adapter's name (`default`), trained or frozen, and all other
/// trained parameters, which are those with optimizer states. Throws Rejected if no parameter has the adapter's name,
/// or if two would get the same name.
Adapter findAdapter(const Checkpoint &checkpoint);

} // namespace xlc::runtime

#endif
