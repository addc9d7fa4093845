// Distributes the heads of attention over the tensor-parallel ranks: equally many to each, together with the key-value
// heads that they read, or, if there are fewer of these than ranks, one of them to each of several ranks.
//
//     heads 8, key-value heads 2, tp = 4:     0 1 | 2 3 | 4 5 | 6 7
//                                             a   | a   | b   | b
//
// Without an even distribution, ranks would have to gather the other ranks' parts of every head, in every layer.
#include "Matrices.h"
#include "ShardMessages.h"
#include "xlc/Support/Numbers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;
using namespace xlc::graph;

namespace {

int64_t headsOf(AttentionOp attention) { return attention.getQ().getType().getDimSize(2); }
int64_t keyHeadsOf(AttentionOp attention) { return attention.getK().getType().getDimSize(2); }

bool sharesHeads(AttentionOp attention, int64_t tp) { return headsOf(attention) % tp == 0; }
bool sharesKeyHeads(AttentionOp attention, int64_t tp) {
  int64_t heads = keyHeadsOf(attention);
  return heads % tp == 0 || tp % heads == 0;
}

SmallVector<AttentionOp> findAttentions(ArrayRef<Instance> instances) {
  SmallVector<AttentionOp> attentions;
  for (const Instance &instance : instances)
    for (Operation *op : instance.ops)
      if (auto attention = dyn_cast<AttentionOp>(op))
        attentions.push_back(attention);
  return attentions;
}

/// The numbers of ranks, above 1, that can share all heads and all matrices: "tp = 2 or 4 would work".
std::string describeRanks(ArrayRef<Instance> instances, ArrayRef<AttentionOp> attentions) {
  auto works = [&](int64_t tp) {
    return llvm::all_of(attentions, [&](AttentionOp op) { return sharesHeads(op, tp) && sharesKeyHeads(op, tp); }) &&
           llvm::all_of(instances, [&](const Instance &instance) {
             return llvm::none_of(instance.matrices, [&](const Matrix &m) { return findCandidates(m, tp).empty(); });
           });
  };
  SmallVector<std::string> numbers;
  constexpr int64_t largest = 65536; // that a spec may ask for
  for (int64_t tp = 2, heads = headsOf(attentions.front()); tp <= std::min(heads, largest); ++tp)
    if (works(tp))
      numbers.push_back(std::to_string(tp));
  if (numbers.empty())
    return "no tp above 1 would work";
  std::string last = numbers.pop_back_val(), others = llvm::join(numbers, ", ");
  return "tp = " + others + (others.empty() ? "" : " or ") + last + " would work";
}

} // namespace

std::optional<std::string> shard::adviseRanks(ArrayRef<Instance> instances) {
  SmallVector<AttentionOp> attentions = findAttentions(instances);
  if (attentions.empty())
    return std::nullopt;
  return describeRanks(instances, attentions);
}

std::optional<Message> shard::findUnsharedHeads(ArrayRef<Instance> instances, const ShardOptions &options) {
  SmallVector<AttentionOp> attentions = findAttentions(instances);
  for (AttentionOp attention : attentions) {
    std::string text;
    if (!sharesHeads(attention, options.tp))
      text = llvm::formatv("tp = {0} does not divide the {1} of attention", options.tp,
                           formatCount(headsOf(attention), "head"));
    else if (!sharesKeyHeads(attention, options.tp))
      text = llvm::formatv("one of tp = {0} and the {1} of attention must divide the other", options.tp,
                           formatCount(keyHeadsOf(attention), "key-value head"));
    else
      continue;
    Message message = makeMessage(options, text);
    addNode(message, options, attention, "the attention is at node");
    addNote(message, describeRanks(instances, attentions));
    return message;
  }
  return std::nullopt;
}
