// The `dist` dialect in C++. See docs/rationale/Dist.md.
#ifndef XLC_DIALECT_DIST_DIST_H
#define XLC_DIALECT_DIST_DIST_H

#include "xlc/Dialect/Graph/Graph.h"
#include <algorithm>

#include "xlc/Dialect/Dist/DistEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "xlc/Dialect/Dist/DistAttrs.h.inc"

#include "xlc/Dialect/Dist/DistDialect.h.inc"

#include "xlc/Dialect/Dist/DistInterfaces.h.inc"

#define GET_OP_CLASSES
#include "xlc/Dialect/Dist/DistOps.h.inc"

namespace xlc::dist {

/// Attributes of a function's arguments and results, after Shard. Of a parameter: the piece of it that a rank owns
/// (absent: all of it). Of a contribution to a gradient (`graph.grad`): the group over which it is a partial sum, to be
/// summed once per step.
inline constexpr llvm::StringLiteral kLayout = "dist.layout";
inline constexpr llvm::StringLiteral kPartial = "dist.partial";

/// Attribute of a module: the ranks of the plan, a #dist.mesh. Set once, with the model (setMesh of Phases.h).
inline constexpr llvm::StringLiteral kMesh = "dist.mesh";
/// The mesh of the module that is or contains an op; one rank if the attribute is absent.
MeshAttr getMesh(mlir::Operation *op);

} // namespace xlc::dist

#endif
