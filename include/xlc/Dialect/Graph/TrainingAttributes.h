// What one phase says of training to later ones, as attributes.
#ifndef XLC_DIALECT_GRAPH_TRAININGATTRIBUTES_H
#define XLC_DIALECT_GRAPH_TRAININGATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace xlc::graph {

/// On an argument of @forward: a parameter that is not trained.
inline constexpr llvm::StringLiteral kFrozen = "graph.frozen";
/// On an argument of @forward and the functions made from it: the optimizer group of a parameter. Of @update: the group
/// whose numbers of the step the argument holds.
inline constexpr llvm::StringLiteral kGroup = "graph.group";
/// On an argument of @micro_batch: a parameter that stays f32 where others are read in sixteen bits.
inline constexpr llvm::StringLiteral kKeep = "graph.keep";
/// On the module: the targets of a global batch.
inline constexpr llvm::StringLiteral kNominalCount = "graph.nominal_count";

/// Attribute of a reduction whose value cancels out of all that is made of it, such as the maximum that a softmax
/// subtracts: its gradient is zero, and would be rounding noise if it were computed.
inline constexpr llvm::StringLiteral kCancels = "graph.cancels";
/// Attribute of a comparison that asks whether a score is of a key that is not seen (at most kForbidden). In the field, where
/// numbers have no order, minus infinity alone says so.
inline constexpr llvm::StringLiteral kForbids = "graph.forbids";
/// Scores up to this are of keys that are not seen.
inline constexpr double kForbidden = -1e30;
/// Attribute of a larger or smaller of two whose equal operands get half of the gradient each, whoever asks for it.
inline constexpr llvm::StringLiteral kSharesTies = "graph.shares_ties";

} // namespace xlc::graph

#endif
