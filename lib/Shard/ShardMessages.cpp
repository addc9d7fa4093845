// See ShardMessages.h.
#include "ShardMessages.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Spec/SpecPlace.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

Message shard::makeMessage(const ShardOptions &options, std::string text, Severity severity, StringRef key) {
  Message message{.severity = severity, .text = std::move(text)};
  if (options.spec)
    message.where = findPlace(*options.spec, key).value_or(options.spec->path);
  return message;
}

Message shard::makeMessage(const ShardOptions &options, std::string text, const LayoutPin &pin) {
  Message message{.text = std::move(text)};
  if (options.spec)
    message.where = formatPlace(*options.spec, pin.location);
  return message;
}

void shard::addNote(Message &message, std::string text) {
  message.notes.push_back({.severity = Severity::Note, .where = message.where, .text = std::move(text)});
}

void shard::addNode(Message &message, const ShardOptions &options, Operation *op, StringRef about) {
  message.op = op;
  if (options.model.empty())
    return;
  message.notes.push_back({.severity = Severity::Note,
                           .where = options.model,
                           .text = (about + " '" + graph::getSourceName(op) + "'").str()});
}
