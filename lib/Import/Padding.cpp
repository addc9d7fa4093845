// PyTorch gives the padding row of an embedding (`padding_idx`) no gradient; ONNX's Gather has no such attribute. It is
// found
//
//   in the node's metadata               xlc.padding_idx = "1"                                      any row
//   in the call that the node came from  aten.embedding.default](args = (%weight, %ids, 1), ...     -1: none
//   in the spec                          padding: {"*.embed_tokens.weight": 1}                      for what
//   dynamo=False lost
//
// It belongs to one lookup: a tied output layer still updates that row.
#include "Padding.h"

#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

namespace {

class PaddingFinder {
public:
  PaddingFinder(Model &model, const ParameterPlan &plan, const Spec &spec, FileDiagnostics &diagnostics)
      : model(model), plan(plan), spec(spec), diagnostics(diagnostics), isMatched(spec.padding.size()) {
    for (auto [i, node] : llvm::enumerate(model.nodes))
      for (const std::string &output : node.outputs)
        producers[output] = (unsigned)i;
  }

  void run() {
    for (auto [i, node] : llvm::enumerate(model.nodes))
      if (node.op == "Gather" && node.domain.empty()) {
        readCall(node);
        readSpec(node, (unsigned)i);
      }
    for (auto [row, matched] : llvm::zip(spec.padding, isMatched)) {
      if (matched)
        continue;
      std::optional<StringRef> nearest = findNearest(row.pattern, tables);
      diagnostics.error(spec, "padding." + row.pattern,
                        "padding has the pattern '" + row.pattern + "', which does not match the table of a Gather" +
                            (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
    }
  }

private:
  void readCall(Node &node) {
    int64_t row = -1;
    if (node.call.target != "aten.embedding.default")
      return;
    if (node.call.find(3, "scale_grad_by_freq") == "True")
      diagnostics.error(node.describe() + " is an embedding with scale_grad_by_freq=True, which is not supported");
    if (!node.paddingIndex && !node.call.find(2, "padding_idx").getAsInteger(10, row) && row != -1)
      node.paddingIndex = row;
  }

  /// The parameter that a lookup reads as its table, also by way of a conversion; null where it is none.
  const Parameter *findTable(unsigned index) const {
    while (true) {
      if (auto use = plan.uses.find({index, 0u}); use != plan.uses.end())
        return &plan.parameters[use->second.parameter];
      const Node &node = model.nodes[index];
      auto producer = node.inputs.empty() ? producers.end() : producers.find(node.inputs[0]);
      if (producer == producers.end() || producer->second >= index)
        return nullptr;
      index = producer->second;
      if (model.nodes[index].op != "Identity" && model.nodes[index].op != "Cast")
        return nullptr;
    }
  }

  void readSpec(Node &node, unsigned index) {
    const Parameter *table = findTable(index);
    if (!table || table->shape.empty())
      return;
    SmallVector<StringRef> names{table->name};
    for (const auto &[other, name] : plan.ties)
      if (name == table->name)
        names.push_back(other);
    llvm::append_range(tables, names);
    const PaddingRow *given = nullptr;
    for (auto [i, row] : llvm::enumerate(spec.padding))
      if (llvm::any_of(names, [&](StringRef name) { return matchesPatterns(name, {row.pattern}); }))
        given = &row, isMatched[i] = true;
    if (!given)
      return;
    auto place = [&](int64_t row) { return row < 0 ? row + table->shape[0] : row; };
    if (node.paddingIndex && place(*node.paddingIndex) != place(given->row))
      diagnostics.error(spec, "padding." + given->pattern,
                        "padding sets the padding row of '" + table->name + "' to " + Twine(given->row) +
                            ", but the file sets it to " + Twine(*node.paddingIndex) + " at " + node.describe());
    node.paddingIndex = given->row;
  }

  Model &model;
  const ParameterPlan &plan;
  const Spec &spec;
  FileDiagnostics &diagnostics;
  std::vector<bool> isMatched; ///< per entry of spec.padding
  StringMap<unsigned> producers;
  SmallVector<StringRef> tables;
};

} // namespace

void xlc::onnx::findPadding(Model &model, const ParameterPlan &plan, const Spec &spec, FileDiagnostics &diagnostics) {
  PaddingFinder(model, plan, spec, diagnostics).run();
}
