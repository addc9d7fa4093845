// One initializer may represent many entries of the state dict, because equal ones were merged. The evidence that
// distinguishes its reads, best first:
//
//   the call      the exporter says which parameter PyTorch's op read
//   its name      an initializer, or the Identity that stands for a merged one, that is called as an entry
//   its module    ln_f reads the ones of h.0.ln_1.weight: the entry of these values in the node's module is ln_f.weight
//   its values    random numbers that only one entry has
//   a module near the node is in self_attn, the entry in self_attn.out_proj, and no other is below or above
//
// A read without such evidence is decided last: an initializer's own entry takes it if all other candidates are found
// elsewhere. Otherwise it is an error; nothing is guessed.
#include "StateDictReads.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// Whether module `a` is `b`, or within it.
bool isWithin(StringRef a, StringRef b) { return b.empty() || (a.consume_front(b) && (a.empty() || a.front() == '.')); }

} // namespace

std::vector<StateRead> StateDictReads::find() {
  isRead.assign(match.entries.size(), false);
  hasAlias.assign(match.entries.size(), false);
  std::vector<StateRead> reads = collect();
  numReads.assign(model.initializers.size(), 0);
  for (const StateRead &read : reads)
    ++numReads[read.initializer];
  SmallVector<size_t> late;
  for (auto [i, read] : llvm::enumerate(reads))
    if (decide(read) == Answer::Later)
      late.push_back(i);
  for (size_t i : late)
    decideLate(reads[i]);
  return reads;
}

std::vector<StateRead> StateDictReads::collect() {
  std::vector<StateRead> reads;
  for (auto [i, all] : llvm::enumerate(names.findReads()))
    for (const Read &read : all) {
      if (read.isPassive || norms.uses.count({read.node, read.input}) ||
          model.initializers[i].type != ElementType::Float)
        continue;
      StateRead &made = reads.emplace_back();
      made.node = read.node, made.input = read.input, made.initializer = (unsigned)i, made.user = read.position;
      made.name = model.initializers[i].name;
      const Node &node = model.nodes[read.node];
      auto named = match.byName.find(model.initializers[i].name);
      if (node.op == "Identity" && !node.outputs.empty()) {
        if (auto alias = match.byName.find(node.outputs[0]); alias != match.byName.end())
          named = alias, made.isAlias = true, hasAlias[alias->second] = true;
        if (made.isAlias || (names.isOwnName(node.outputs[0]) && StringRef(node.outputs[0]).contains('.')))
          made.name = node.outputs[0];
      }
      made.own = named == match.byName.end() ? -1 : named->second;
      if (auto traced = match.byName.find(read.name); read.isTraced && traced != match.byName.end())
        made.traced = traced->second;
    }
  llvm::sort(reads, [](const StateRead &a, const StateRead &b) {
    return std::pair(a.node, a.input) < std::pair(b.node, b.input);
  });
  return reads;
}

/// Whether another initializer, or an alias, has the entry's name, so that this one's reads are none of its. Copies of
/// one tensor of random numbers are an exception: exporters keep a transposed one beside the original.
bool StateDictReads::isElsewhere(int entry, const StateRead &read) {
  const StateEntry &of = match.entries[entry];
  bool hasOwn = of.own >= 0 || hasAlias[entry];
  return entry != read.own && hasOwn && (of.content.isUniform || !match.isSame || match.isNamed(read.initializer));
}

std::vector<int> StateDictReads::candidates(const StateRead &read) {
  std::vector<int> result;
  for (int entry : match.entriesLike(read.initializer))
    if (!isElsewhere(entry, read))
      result.push_back(entry);
  return result;
}

/// The one parameter that `entries` are: tied ones are one; of several, the one that is called as the operand is.
std::optional<int> StateDictReads::single(ArrayRef<int> entries, const StateRead &read) {
  auto areOne = [&](ArrayRef<int> list) {
    return !list.empty() &&
           llvm::all_of(list, [&](int e) { return match.entries[e].tied == match.entries[list.front()].tied; });
  };
  if (areOne(entries))
    return entries.front();
  StringRef leaf = nameOperand(model.nodes[read.user], read.user == read.node ? read.input : 0);
  SmallVector<int> called;
  for (int entry : entries)
    if (!leaf.empty() && splitName(match.entries[entry].called).second == leaf)
      called.push_back(entry);
  return areOne(called) ? std::optional(called.front()) : std::nullopt;
}

StateDictReads::Answer StateDictReads::take(StateRead &read, int entry) {
  SmallVector<TensorView> views = match.findViewsOf(entry, read.initializer);
  if (views.size() == 1)
    return take(read, entry, views.front());
  undecided.push_back("initializer '" + model.initializers[read.initializer].name + "' matches '" +
                      match.entries[entry].name() + "' of the state dict, but also its transpose");
  return Answer::Undecided;
}

StateDictReads::Answer StateDictReads::take(StateRead &read, int entry, const TensorView &view) {
  read.entry = match.entries[entry].tied;
  read.view = view;
  isRead[entry] = isRead[read.entry] = true;
  return Answer::Found;
}

/// One of `entries`, or that it cannot be told which; nothing where there are none.
std::optional<StateDictReads::Answer> StateDictReads::choose(ArrayRef<int> entries, StateRead &read) {
  if (entries.empty())
    return std::nullopt;
  if (std::optional<int> entry = single(entries, read))
    return take(read, *entry);
  if (llvm::is_contained(entries, read.own))
    return Answer::Later;
  undecided.push_back(describe(read, entries));
  return Answer::Undecided;
}

StateDictReads::Answer StateDictReads::decide(StateRead &read) {
  std::vector<int> all = candidates(read);
  bool mayBeOwn = llvm::is_contained(all, read.own);
  if (!all.empty() && mayBeConstant(read)) {
    undecided.push_back(describe(read, all) + ", but may also be a constant");
    return Answer::Undecided;
  }
  if (llvm::is_contained(all, read.traced))
    return take(read, read.traced);
  if (mayBeOwn && (read.isAlias || all.size() == 1))
    return take(read, read.own);
  StringRef scope = model.nodes[read.user].scope;
  std::vector<int> inModule, near;
  for (int entry : all) {
    StringRef module = splitName(match.entries[entry].called).first;
    if (module == scope)
      inModule.push_back(entry);
    else if (!scope.empty() && !module.empty() && (isWithin(module, scope) || isWithin(scope, module)))
      near.push_back(entry);
  }
  if (std::optional<Answer> answer = choose(inModule, read))
    return *answer;
  if (auto twin = match.findTwin(read.initializer))
    return take(read, twin->first, twin->second);
  if (match.isTelling(read.initializer))
    if (std::optional<int> entry = single(all, read))
      return take(read, *entry);
  if (std::optional<Answer> answer = choose(near, read))
    return *answer;
  if (mayBeOwn)
    return Answer::Later;
  if (match.isTelling(read.initializer))
    if (std::optional<Answer> answer = choose(all, read))
      return *answer;
  return Answer::Constant;
}

/// A number that stands in the file once, and is read several times: the exporter may have merged the parameter with
/// equal constants.
bool StateDictReads::mayBeConstant(const StateRead &read) const {
  return model.initializers[read.initializer].numElements() == 1 && match.mayBeMerged && numReads[read.initializer] > 1;
}

/// The initializer's own entry, if all others that it might be are found.
StateDictReads::Answer StateDictReads::decideLate(StateRead &read) {
  std::vector<int> others;
  for (int entry : candidates(read))
    if (entry != read.own && !isRead[entry] && match.entries[entry].tied != match.entries[read.own].tied)
      others.push_back(entry);
  if (others.empty())
    return take(read, read.own);
  others.push_back(read.own);
  undecided.push_back(describe(read, others));
  return Answer::Undecided;
}

std::string StateDictReads::describe(const StateRead &read, ArrayRef<int> entries) {
  std::vector<std::string> some;
  for (int entry : entries)
    some.push_back("'" + match.entries[entry].name() + "'");
  return model.nodes[read.user].describe() + " reads initializer '" + model.initializers[read.initializer].name +
         "', which matches " + listSome(some) + " of the state dict";
}
