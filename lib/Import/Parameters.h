// Which parameters PyTorch had, and where the file uses them. See Parameters.cpp.
#ifndef XLC_IMPORT_PARAMETERS_H
#define XLC_IMPORT_PARAMETERS_H

#include "BatchNorms.h"
#include <map>

namespace xlc::onnx {

struct Parameter {
  std::string name;           ///< PyTorch's
  std::vector<int64_t> shape; ///< PyTorch's
  int initializer = -1;       ///< index in Model::initializers; -1: a bias of zeros that the file no longer has
  bool isTransposed = false;  ///< the file holds the transpose (two dimensions)
  Buffer buffer = Buffer::None;
};

struct ParameterPlan {
  std::vector<Parameter> parameters;                 ///< in the order of the signature
  std::map<std::pair<unsigned, unsigned>, int> uses; ///< (node, input) -> parameter
  std::map<unsigned, int> vanishedBiases;            ///< node -> parameter to add to its result
  std::vector<bool> isParameter;                     ///< per initializer; the others are constants
};

/// Finds out from signature, scopes, values and `norms`. Each thing undone is a line on `notes` (may be null).
ParameterPlan planParameters(Model &model, const BatchNorms &norms, Diagnostics &diagnostics, llvm::raw_ostream *notes);

} // namespace xlc::onnx

#endif
