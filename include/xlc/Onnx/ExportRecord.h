// What `xlc_export` says about the module it exported: the parameters, beyond guessing. See docs/Export.md.
#ifndef XLC_ONNX_EXPORTRECORD_H
#define XLC_ONNX_EXPORTRECORD_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xlc::onnx {

struct ExportRecord {
  /// The key of the model's metadata under which it stands, and the only version of it so far.
  static constexpr llvm::StringLiteral key = "xlc.export";
  static constexpr int64_t version = 1;

  struct Tensor {
    std::string name;              ///< PyTorch's first, and that of the initializer
    std::vector<int64_t> shape;    ///< PyTorch's
    std::string dtype;             ///< PyTorch's, as "float32"
    std::vector<std::string> ties; ///< PyTorch's further names for it
    int64_t reads = 0;             ///< how many operands of nodes it is
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
