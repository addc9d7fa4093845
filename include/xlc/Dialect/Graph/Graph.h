// The `graph` dialect in C++. See docs/rationale/Graph.md.
#ifndef XLC_DIALECT_GRAPH_GRAPH_H
#define XLC_DIALECT_GRAPH_GRAPH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "xlc/Dialect/Graph/Optimizers.h"
#include "xlc/Dialect/Graph/Traits.h"
#include "xlc/Runtime/StepNumbers.h"

#include "xlc/Dialect/Graph/GraphEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Graph/GraphAttrs.h.inc"

#include "xlc/Dialect/Graph/GraphDialect.h.inc"

#define GET_OP_CLASSES
#include "xlc/Dialect/Graph/GraphOps.h.inc"

namespace xlc::graph {

/// Discardable attributes of every op of a model, and attributes of function arguments and results. Arguments are
/// parameters (`kParam`: its PyTorch name), model inputs (`kInput`: its name) or, in the update function, optimizer
/// state (`kState`: "NAME/m"). Results of the micro-batch function that are contributions to a gradient have `kGrad`:
/// the parameter's name; contributions with the same name are added. A parameter that is a buffer (a running average)
/// has `kBuffer` in addition to `kParam`, and so has the result with its value for the next micro-batch: the buffer's
/// name. A buffer has no gradient, and each rank has its own.
inline constexpr llvm::StringLiteral kUnit = "graph.unit";
inline constexpr llvm::StringLiteral kRole = "graph.role";
inline constexpr llvm::StringLiteral kParam = "graph.param";
inline constexpr llvm::StringLiteral kInput = "graph.input";
inline constexpr llvm::StringLiteral kState = "graph.state";
inline constexpr llvm::StringLiteral kGrad = "graph.grad";
inline constexpr llvm::StringLiteral kBuffer = "graph.buffer";

/// The type of a value of `graph`. All of them are tensors.
inline mlir::RankedTensorType typeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

/// The unit or role of an op; null or none if it has none.
ModelUnitAttr getUnit(mlir::Operation *op);
std::optional<Role> getRole(mlir::Operation *op);

/// Whether the op reads, for an element of its results, only the element of this operand with the same indices. If so,
/// the results may overwrite the operand, element by element.
bool readsOwnElement(mlir::OpOperand &operand);
/// Whether the op's result is only used in reductions: the op is a reduction, or a reshape that keeps the rows and
/// whose users are all such ops.
bool isReducedAlone(mlir::Operation *op);

/// The value before the reshapes and broadcasts that lead to `value`, which has the same elements.
mlir::Value skipReshapings(mlir::Value value);

/// Whether elements are floats of sixteen bits: bf16 or f16.
bool isNarrow(mlir::Type element);
/// Whether the op is a cast from sixteen bits, which is exact.
bool isWidening(mlir::Operation *op);
/// The vector that each row of the last dimension of `value` repeats, before it was widened; null if there is none.
mlir::Value findRepeatedVector(mlir::Value value);

/// Bytes of `count` elements in memory, and of all elements of a tensor or a memref (i1 takes a byte).
int64_t getByteSize(mlir::Type elementType, int64_t count);
int64_t getByteSize(mlir::ShapedType type);

/// The name of an op in the user's model: the name of its location, or empty.
llvm::StringRef getSourceName(mlir::Operation *op);

} // namespace xlc::graph

#endif
