// The factor on the loss that keeps gradients of float16 in range (Micikevicius et al., "Mixed Precision Training",
// 2018, section 3.2), and the rule that changes it: as in PyTorch's GradScaler, with the hysteresis of DeepSpeed's
// DynamicLossScaler.
#ifndef XLC_DIALECT_GRAPH_LOSSSCALE_H
#define XLC_DIALECT_GRAPH_LOSSSCALE_H

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir {
class Attribute;
class DictionaryAttr;
class InFlightDiagnostic;
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace xlc {
namespace graph {

/// Module attribute: a dictionary of the fields of LossScale. A module without it has no scale.
inline constexpr llvm::StringLiteral kLossScale = "graph.loss_scale";
/// On the op that creates the first gradient of backward: the value that the scale multiplies.
inline constexpr llvm::StringLiteral kSeed = "graph.seed";
} // namespace graph

/// The scale doubles after `window` consecutive steps without overflow. It is halved, but not below `min`, after
/// `hysteresis` steps with an overflow. These need not be consecutive, and their count restarts when the scale grows. A
/// scale that is not dynamic is constant.
struct LossScale {
  double initial = 65536;
  int64_t window = 2000, hysteresis = 1;
  double min = 1;
  bool isDynamic = true;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Fails if `attribute` is not such a dictionary.
  static llvm::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                    mlir::Attribute attribute);
  /// The loss scale of a module; none if it has none.
  static std::optional<LossScale> of(mlir::ModuleOp module);
};

} // namespace xlc

#endif
