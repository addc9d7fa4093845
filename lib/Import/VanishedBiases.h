// Biases that the file no longer has. See VanishedBiases.cpp.
#ifndef XLC_IMPORT_VANISHEDBIASES_H
#define XLC_IMPORT_VANISHEDBIASES_H

#include "ParameterNames.h"

namespace xlc::onnx {

/// A bias of `size` zeros that belongs to the result of `node`.
struct VanishedBias {
  unsigned node;
  std::string name;
  int64_t size;
};

/// Those that the signature lists and that are not `accounted` for.
std::vector<VanishedBias> findVanishedBiases(const Model &model, const ParameterNames &names,
                                             const llvm::StringSet<> &accounted);

} // namespace xlc::onnx

#endif
