// A tensor of a state dict that may be a parameter of a model, and its name in the model.
#ifndef XLC_IMPORT_STATEENTRY_H
#define XLC_IMPORT_STATEENTRY_H

#include "ParameterNames.h"
#include "StateDict.h"
#include "TensorContent.h"

namespace xlc::onnx {

/// A tensor of the state dict that may be a parameter.
struct StateEntry {
  const StateTensor *tensor = nullptr;
  std::string called;       ///< what the model calls it: with or without a prefix that all names share
  TensorContent content;    ///< in the type that the file stores
  TensorContent ownContent; ///< as the state dict has it
  int storedType = 1;       ///< ONNX's number of that type: `model.half()` exports rounded values
  int own = -1;             ///< the initializer that has its name
  int tied = -1;            ///< the entry whose parameter it is: itself, or an earlier one
  bool isBuffer = false;
  bool isFrozen = false; ///< as `trainable` says

  const std::string &name() const { return tensor->name; }
  const std::vector<int64_t> &shape() const { return tensor->shape; }
};

/// The prefix by which all names of a state dict differ from those of the model, if they do.
class StatePrefix {
public:
  /// `buffers`: further names of buffers.
  StatePrefix(const Model &model, const StateDict &dict, const ParameterNames &names, const llvm::StringSet<> &buffers);

  std::string callInModel(const std::string &name) const;

private:
  std::string added, removed; ///< in front of all names
};

/// All names that the file says PyTorch had.
llvm::StringSet<> findKnownNames(const Model &model, const ParameterNames &names);

} // namespace xlc::onnx

#endif
