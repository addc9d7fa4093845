// Two layer norms of one input, both with ones and zeros, are one node after the exporter has merged equal initial
// values and then equal nodes:
//
//     x ─► layer_norm (input_layernorm) ─┬─► linear    called with %layer_norm
//                                        └─► linear_2  called with %layer_norm_1, which nothing makes
//
// The calls in PyTorch show it. The second norm's parameters are those of the one module beside the first that has the
// same ones and that no call mentions; its node is restored as a copy, whose call reads them.
#include "MergedModules.h"

#include "MergedCalls.h"
#include "ParameterNames.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

class ModuleSplitter {
public:
  ModuleSplitter(Model &model, raw_ostream *notes) : model(model), notes(notes), names(model) {}

  void split() {
    if (!names.traced.isPresent())
      return;
    for (auto [n, node] : enumerate(model.nodes)) {
      ++nodesOfCall[node.call.name];
      for (auto [i, input] : enumerate(node.inputs))
        readersOf[input].emplace_back((unsigned)n, (unsigned)i);
    }
    std::vector<Node> nodes;
    for (unsigned n = 0; n < model.nodes.size(); ++n) {
      nodes.push_back(model.nodes[n]);
      if (std::optional<Node> copy = restore(n))
        nodes.push_back(std::move(*copy));
    }
    model.nodes = std::move(nodes);
  }

private:
  /// The node that was merged with node `n`; its readers then read it. None where nothing shows that there was one.
  std::optional<Node> restore(unsigned n) {
    const Node &node = model.nodes[n];
    if (nodesOfCall[node.call.name] != 1 || node.outputs.size() != 1 || names.traced.parametersOf(node.call).empty())
      return std::nullopt;
    MapVector<StringRef, SmallVector<std::pair<unsigned, unsigned>>, std::map<StringRef, unsigned>> readers;
    for (auto [reader, input] : readersOf.lookup(node.outputs[0]))
      if (StringRef value = names.traced.findMerged(model.nodes[reader].call, node.call.name); !value.empty())
        readers[value].emplace_back(reader, input);
    StringRef module = readers.size() == 1 ? findModule(node) : StringRef();
    if (module.empty())
      return std::nullopt;
    Node copy = node;
    copy.call.name = readers.front().first.str();
    copy.name += "/" + module.str(), copy.outputs[0] += "/" + module.str(), copy.scope = module.str();
    for (std::string &argument : copy.call.arguments)
      renameParameter(argument, module);
    for (auto [reader, input] : readers.front().second)
      model.nodes[reader].inputs[input] = copy.outputs[0];
    if (notes)
      *notes << "'" << module << "' was merged with '" << node.scope
             << "', which had equal initial values; the two are separate again\n";
    return copy;
  }

  /// The one module beside that of `node` whose parameters have the names of those that it reads, and are read by none.
  StringRef findModule(const Node &node) {
    SmallVector<StringRef> read = names.traced.parametersOf(node.call);
    StringRef home = splitName(read.front()).first, found;
    for (const std::string &name : model.signature.parameters) {
      auto [module, leaf] = splitName(name);
      if (module == home || module == found || splitName(module).first != splitName(home).first)
        continue;
      bool fits = all_of(read, [&, module = module](StringRef of) {
        std::string other = joinName(module, splitName(of).second);
        return splitName(of).first == home && names.isLost(other) && !names.traced.isMentioned(other);
      });
      if (fits && !found.empty())
        return "";
      found = fits ? module : found;
    }
    return found;
  }

  void renameParameter(std::string &argument, StringRef module) {
    StringRef value = argument;
    auto target = value.consume_front("%") ? model.signature.targets.find(value) : model.signature.targets.end();
    if (target == model.signature.targets.end())
      return;
    std::string name = joinName(module, splitName(target->second).second);
    if (StringRef placeholder = names.traced.placeholderOf(name); !placeholder.empty())
      argument = "%" + placeholder.str();
  }

  Model &model;
  raw_ostream *notes;
  ParameterNames names;
  StringMap<unsigned> nodesOfCall;
  StringMap<SmallVector<std::pair<unsigned, unsigned>, 2>> readersOf; ///< value -> (node, input)
};

} // namespace

void xlc::onnx::splitMerged(Model &model, raw_ostream *notes, FileDiagnostics &diagnostics) {
  if (model.record) // whose exporter merges nothing, and marks what is stopped
    return;
  ModuleSplitter(model, notes).split();
  splitMergedCalls(model, diagnostics);
}
