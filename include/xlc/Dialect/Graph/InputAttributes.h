// Properties of an input beside its type, as attributes of its argument: the source of its rows, and the range of its
// values. Import sets them.
#ifndef XLC_DIALECT_GRAPH_INPUTATTRIBUTES_H
#define XLC_DIALECT_GRAPH_INPUTATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace xlc::graph {

/// An i64: elements are in [0, limit).
inline constexpr llvm::StringLiteral kLimit = "graph.limit";
/// An i64: one additional value that is valid in labels.
inline constexpr llvm::StringLiteral kIgnore = "graph.ignore";
/// A string: the name of the input of which the argument has the rows of a whole step.
inline constexpr llvm::StringLiteral kWholeStep = "graph.whole_step";

/// Set if the model's file contains no op that reads its values: another input may have been exported in its place.
inline constexpr llvm::StringLiteral kUnread = "graph.unread";

/// Set if no file contains the input: the runtime writes the number of each sample within the global batch of its step.
inline constexpr llvm::StringLiteral kSampleNumber = "graph.sample_number";
/// The name of this argument, which no input of a model has.
inline constexpr llvm::StringLiteral kSampleInput = "@sample";

} // namespace xlc::graph

#endif
