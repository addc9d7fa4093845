// The messages of Shard to the user: at a key or a pin of the spec, about a node of the model.
#ifndef XLC_LIB_SHARD_SHARDMESSAGES_H
#define XLC_LIB_SHARD_SHARDMESSAGES_H

#include "xlc/Shard/Shard.h"

namespace xlc::shard {

/// A message at `key` of the spec.
Message makeMessage(const ShardOptions &options, std::string text, Severity severity = Severity::Error,
                    llvm::StringRef key = "tp");

/// An error at a pin.
Message makeMessage(const ShardOptions &options, std::string text, const LayoutPin &pin);

/// Adds a note at the place of the message.
void addNote(Message &message, std::string text);

/// Adds `op` as the subject of the message; in the model's file `about` names its node: "the attention is at node".
void addNode(Message &message, const ShardOptions &options, mlir::Operation *op, llvm::StringRef about);

} // namespace xlc::shard

#endif
