// Attributes with which one phase passes facts about training to later ones.
#ifndef XLC_DIALECT_GRAPH_TRAININGATTRIBUTES_H
#define XLC_DIALECT_GRAPH_TRAININGATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace xlc::graph {

/// On an argument of @forward: the parameter is not trained.
inline constexpr llvm::StringLiteral kFrozen = "graph.frozen";
/// On an argument of @forward and the functions made from it: the optimizer group of a parameter. On an argument of
/// @update: the group whose numbers of the step it contains.
inline constexpr llvm::StringLiteral kGroup = "graph.group";
/// On an argument of @micro_batch: the parameter stays f32 while others are read in sixteen bits.
inline constexpr llvm::StringLiteral kKeep = "graph.keep";
/// On the module: the number of targets of a global batch.
inline constexpr llvm::StringLiteral kNominalCount = "graph.nominal_count";

/// Attribute of a reduction whose value cancels out in all its uses, such as the maximum that a softmax subtracts. Its
/// gradient is zero; if computed, it would be rounding noise.
inline constexpr llvm::StringLiteral kCancels = "graph.cancels";
/// Attribute of a comparison that tests whether a score belongs to a masked key (at most kForbidden). In the field,
/// where numbers have no order, only minus infinity marks such a score.
inline constexpr llvm::StringLiteral kForbids = "graph.forbids";
/// Scores up to this value belong to masked keys.
inline constexpr double kForbidden = -1e30;
/// Attribute of a maximum or minimum of two operands: equal operands receive half of the gradient each, in every
/// derivative.
inline constexpr llvm::StringLiteral kSharesTies = "graph.shares_ties";

} // namespace xlc::graph

#endif
