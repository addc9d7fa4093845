// The phase Precision: selects the values of a micro-batch with sixteen bits. Types are casts in the IR and are decided
// only here, so that every target rounds at the same places, except for the operations that a target's library applies
// to a product before rounding it.
// After Micikevicius et al., "Mixed Precision Training" (2018), section 3.
#ifndef XLC_PRECISION_PRECISION_H
#define XLC_PRECISION_PRECISION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Spec/Spec.h"
#include "xlc/Target/Target.h"

namespace xlc {

/// The class of an op in mixed precision.
enum class PrecisionClass {
  Product,     ///< narrow operands, summed in f32
  Convolution, ///< like Product, but the library requires f32: its rounded operands are widened again
  Movement,    ///< results are elements of the operands, in their type
  Named,       ///< computes in f32; its first result is rounded
  Small,       ///< computes in f32; its result is rounded if it is kept or read more than once
  Wide,        ///< computes in f32 without rounding: sums, statistics, losses, updates
};
/// The class from the table of lib/Precision/PrecisionTable.cpp. Without a row, movements are Movement, ops with a
/// formula Named, and other ops Small.
PrecisionClass getPrecisionClass(mlir::Operation *op);
/// Whether the table has a row for the op.
bool hasPrecisionRow(mlir::OperationName op);

/// The narrow type with this name, "bf16" or "f16"; for other names reports an error at `op` and returns null.
mlir::Type findNarrowType(mlir::Operation *op, llvm::StringRef name);

#define GEN_PASS_DECL
#include "xlc/Precision/Passes.h.inc"

/// Passes that query the target, which must outlive them: whether its library supports convolutions of sixteen bits,
/// and the operations that it can apply to a product before rounding it.
std::unique_ptr<mlir::Pass> createNarrowConvolutionsPass(const Target &target);
std::unique_ptr<mlir::Pass> createRoundEpiloguesOncePass(const Target &target);
/// Registers all passes of this folder, for xlc-opt.
void registerPrecisionPasses(const Target &target);

/// Marks the parameters that match the spec's `precision.keep`. A pattern without a match is an error at its place.
mlir::LogicalResult keepParameters(mlir::ModuleOp module, const Spec &spec, Diagnostics &diagnostics);

} // namespace xlc

#endif
