// The record that `xlc_export` writes about an exported module: its parameters, without inference. See docs/Export.md.
#ifndef XLC_ONNX_EXPORTRECORD_H
#define XLC_ONNX_EXPORTRECORD_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xlc::onnx {

struct ExportRecord {
  /// The key of the record in the model's metadata, and its only version so far.
  static constexpr llvm::StringLiteral key = "xlc.export";
  static constexpr int64_t version = 1;

  struct Tensor {
    std::string name;              ///< the first in PyTorch, and that of the initializer
    std::vector<int64_t> shape;    ///< PyTorch's
    std::string dtype;             ///< PyTorch's, as "float32"
    std::vector<std::string> ties; ///< further names in PyTorch
    int64_t reads = 0;             ///< number of operands of nodes that refer to it
    bool requiresGradient = true;  ///< parameters
  };
  std::vector<Tensor> parameters, buffers; ///< in PyTorch's order

  struct Dropout {
    std::string module;
    double ratio = 0;
    bool isOn = false; ///< the module was in training mode
  };
  std::vector<Dropout> dropouts;
};

} // namespace xlc::onnx

#endif
