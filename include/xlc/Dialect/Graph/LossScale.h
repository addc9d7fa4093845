// The factor on the loss that keeps gradients of float16 in range (Micikevicius et al., "Mixed Precision Training", 2018,
// section 3.2), and the rule by which it moves: as PyTorch's GradScaler, with the hysteresis of DeepSpeed's
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

/// Module attribute: a dictionary of the numbers of LossScale. A module without it has no scale.
inline constexpr llvm::StringLiteral kLossScale = "graph.loss_scale";
/// On the op that gives backward its first gradient: what the scale multiplies.
inline constexpr llvm::StringLiteral kSeed = "graph.seed";
} // namespace graph

/// Twice as large after `window` steps in a row without overflow; half as large, but not below `min`, after `hysteresis`
/// steps with one, which need not follow each other and are counted anew when the scale grows. A fixed one stays.
struct LossScale {
  double initial = 65536;
  int64_t window = 2000, hysteresis = 1;
  double min = 1;
  bool isDynamic = true;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Fails where `attribute` is no such dictionary.
  static llvm::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                    mlir::Attribute attribute);
  /// That of a module; none where it has none.
  static std::optional<LossScale> of(mlir::ModuleOp module);
};

} // namespace xlc

#endif
