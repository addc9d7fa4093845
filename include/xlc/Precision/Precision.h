// The phase Precision: which values of a micro-batch have sixteen bits. Types are casts in the IR, decided here once, so
// that every target rounds at the same places, but for what a target's library does with a product before it rounds it.
// After Micikevicius et al., "Mixed Precision Training" (2018), section 3.
#ifndef XLC_PRECISION_PRECISION_H
#define XLC_PRECISION_PRECISION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Spec/Spec.h"
#include "xlc/Target/Target.h"

namespace xlc {

/// What an op is to mixed precision.
enum class PrecisionClass {
  Product,     ///< takes narrow operands, sums in f32
  Convolution, ///< the same, but the library takes f32: its rounded operands are widened again
  Movement,    ///< its results are elements of its operands, in their type
  Named,       ///< computes in f32; its first result is rounded
  Small,       ///< computes in f32; its result is rounded where it is kept or read more than once
  Wide,        ///< computes in f32; nothing of it is rounded: sums, statistics, losses, updates
};
/// By the table of lib/Precision/PrecisionTable.cpp; without a row, movements and what has a formula are Movement and Named,
/// other ops Small.
PrecisionClass getPrecisionClass(mlir::Operation *op);
/// Whether the table has a row for the op.
bool hasPrecisionRow(mlir::OperationName op);

/// The narrow type of a name, "bf16" or "f16"; for others complains of `op`, and gives null.
mlir::Type findNarrowType(mlir::Operation *op, llvm::StringRef name);

#define GEN_PASS_DECL
#include "xlc/Precision/Passes.h.inc"

/// Ask the target, which must outlive them, whether its library takes convolutions of sixteen bits, and what it can do before it
/// rounds a product.
std::unique_ptr<mlir::Pass> createNarrowConvolutionsPass(const Target &target);
std::unique_ptr<mlir::Pass> createRoundEpiloguesOncePass(const Target &target);
/// All passes of this room, for xlc-opt.
void registerPrecisionPasses(const Target &target);

/// Marks the parameters that the spec's `precision.keep` names. A pattern that matches none is an error at its place.
mlir::LogicalResult keepParameters(mlir::ModuleOp module, const Spec &spec, Diagnostics &diagnostics);

} // namespace xlc

#endif
