// What Import knows of an input beside its type, as attributes of its argument: what rows it has, and which numbers.
#ifndef XLC_DIALECT_GRAPH_INPUTATTRIBUTES_H
#define XLC_DIALECT_GRAPH_INPUTATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace xlc::graph {

/// An i64: elements lie in [0, limit).
inline constexpr llvm::StringLiteral kLimit = "graph.limit";
/// An i64: the one further value that labels may have.
inline constexpr llvm::StringLiteral kIgnore = "graph.ignore";
/// A string: the name of the input whose rows of a whole step the argument holds.
inline constexpr llvm::StringLiteral kWholeStep = "graph.whole_step";

/// Present where nothing in the model's file reads its values: another input may have been exported in its place.
inline constexpr llvm::StringLiteral kUnread = "graph.unread";

/// Present where no file has the input: the runtime writes the number of each sample within the global batch of its
/// step.
inline constexpr llvm::StringLiteral kSampleNumber = "graph.sample_number";
/// Its name, which no input of a model has.
inline constexpr llvm::StringLiteral kSampleInput = "@sample";

} // namespace xlc::graph

#endif
