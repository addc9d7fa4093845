// Biases that are no longer in the file. See VanishedBiases.cpp.
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

/// A product with an initializer, or a norm by it, without a bias of its own.
struct BiaslessNode {
  unsigned node;
  std::pair<unsigned, unsigned> read; ///< node and input that read the initializer: itself, or a Transpose
  int64_t outputs;                    ///< columns, or channels
};
std::vector<BiaslessNode> findBiaslessNodes(const Model &model);

/// The biases that the signature lists and that are not `accounted` for. `nameOf` returns the parameter of an operand.
std::vector<VanishedBias> findVanishedBiases(const Model &model, const ParameterNames &names,
                                             const llvm::StringSet<> &accounted,
                                             llvm::function_ref<llvm::StringRef(unsigned node, unsigned input)> nameOf);

} // namespace xlc::onnx

#endif
