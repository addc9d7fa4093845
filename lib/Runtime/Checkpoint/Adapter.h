// The adapter of PEFT that a checkpoint has, as adapter_model.safetensors holds it: its names begin with PEFT's model,
// whatever module that was in, and lack the adapter's name, which whoever loads the file chooses.
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
  std::vector<std::string> leftOut; ///< of parameters that are trained, and are in no model of PEFT
};

/// Of PEFT's model, the parameters that have the adapter's name (`default`), trained or frozen, and all others that are
/// trained: those of which the optimizer has states. Throws Rejected where none has the adapter's name, or two would
/// get the same one.
Adapter findAdapter(const Checkpoint &checkpoint);

} // namespace xlc::runtime

#endif
