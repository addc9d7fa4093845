// See LostParameters.h.
#include "LostParameters.h"

#include "FoldedConstants.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

void LostParameters::reportLost(ParameterPlan &plan, StringSet<> accounted) const {
  FoldedParameters found(model, names, plan);
  for (const std::string &name : model.signature.parameters)
    if (!accounted.contains(name))
      plan.lost.push_back(name);
  refuseFolded(model, norms, spec.trainable, accounted, diagnostics);
  std::vector<std::string> folded, rearranged, unread;
  for (const std::string &name : plan.lost) {
    if (accounted.contains(name) || !matchesPatterns(name, spec.trainable))
      continue;
    if (names.traced.isMentioned(name))
      rearranged.push_back(name);
    else if (found.find(name))
      folded.push_back(name);
    else if (found.isComplete())
      notes("'" + name + "' is read by nothing, as in PyTorch: not trained");
    else
      unread.push_back(name);
  }
  auto complain = [&](const std::vector<std::string> &missing, const Twine &what, const Twine &why) {
    if (!missing.empty())
      diagnostics.error("the exporter " + what + " " + Twine(missing.size()) + " of its " +
                        Twine(model.signature.parameters.size()) + " parameters " + why + ": " + listNames(missing) +
                        "; " + adviseExport(model) + ", or leave them as they are with trainable: " + "[\"*\", \"!" +
                        missing.front() + "\"]");
  };
  const FileTensor *part = folded.empty() ? nullptr : found.find(folded.front());
  complain(folded, "computed with",
           "once and for all ('" + (part ? part->name : "") + "' stands for what it made of the first), so that they " +
               "cannot be trained");
  complain(rearranged, "rearranged", "in a way that is not recognised");
  complain(unread, "lists",
           "that nothing in the graph reads: it computed with them once and for all or merged them with equal ones, or "
           "PyTorch does not use them either, which a state dict would tell (init: {from: state.safetensors})");
}

/// What the exporter computed may have begun with the values of a parameter, and was merged with it.
void LostParameters::reportMerged() const {
  std::vector<std::string> merged;
  const Read *first = nullptr;
  for (const std::vector<Read> &of : reads)
    for (const Read &read : of)
      if (!read.merged.empty() && matchesPatterns(read.name, spec.trainable)) {
        merged.push_back(read.merged);
        first = first ? first : &read;
      }
  if (first)
    diagnostics.error("the exporter computed " + Twine(listNames(merged)) +
                      " once and for all, and merged the first with '" + first->name +
                      "', which begins with the same values: " + model.nodes[first->node].describe() +
                      " would read that parameter; " + adviseExport(model) +
                      ", or leave it as it is with trainable: [\"*\", \"!" + first->name + "\"]");
}

/// Without a signature: what the exporter computed is a parameter where it is a transpose, and otherwise unknown. A
/// number of few digits is mostly a constant.
void LostParameters::reportComputed(const ParameterPlan &plan, OneValues &values) const {
  std::vector<std::string> computed, plain;
  const Node *reader = nullptr;
  for (unsigned i = 0; i < model.initializers.size(); ++i)
    for (const Read &read : reads[i]) {
      const FileTensor &tensor = model.initializers[i];
      const std::string &name = read.isAlias ? model.nodes[read.node].outputs[0] : tensor.name;
      if (names.hasSignature() || !read.isComputed || plan.uses.count({read.node, read.input}) ||
          !matchesPatterns(name, spec.trainable))
        continue;
      bool isConstant = !read.isAlias && tensor.numElements() == 1 && values.has(i) && isPlain(*values.find(i), 3) &&
                        findFoldedSource(model, plan, spec, {i, {read.node}}).empty();
      std::vector<std::string> &list = isConstant ? plain : computed;
      if (!llvm::is_contained(list, name))
        list.push_back(name);
      if (!isConstant && !reader)
        reader = &model.nodes[read.position];
    }
  if (!computed.empty())
    diagnostics.error("the exporter computed " + Twine(computed.size()) +
                      (computed.size() == 1 ? " tensor" : " tensors") +
                      ", from parameters or from constants, which the file does not say: " + listNames(computed) +
                      ", the first read by " + reader->describe() + "; " + adviseExport(model) +
                      "; constants stay as they are with trainable: [\"*\", \"!" + computed.front() + "\"]");
  if (!plain.empty())
    diagnostics.warning("the exporter computed " + listNames(plain) +
                        ", from parameters or from constants, which the file does not say: taken as " +
                        (plain.size() == 1 ? "a constant" : "constants") + "; where a parameter was in it, " +
                        adviseExport(model));
}

void LostParameters::warn(const ParameterPlan &plan, const WeakEvidence &weak, const ParameterTies &ties) const {
  std::vector<std::string> madeUp;
  for (const Parameter &parameter : plan.parameters)
    if (weak.nameless.contains(parameter.name))
      madeUp.push_back(parameter.name);
  if (!madeUp.empty())
    diagnostics.warning(
        "the file does not name " + Twine(madeUp.size()) + " of its " + Twine(plan.parameters.size()) +
        " parameters; they are called " + listNames(madeUp) +
        ", and trained as they stand: torch.onnx.export(..., dynamo=True) leaves their names; where the "
        "model computes them (W + B A, W * scale), xlc_export leaves what they are computed from");
  if (!weak.copies.empty())
    diagnostics.warning(
        "these begin with the values of another layer and are taken as copies that go their own ways: " +
        listNames(weak.copies) + "; where they are one parameter, say so with tie");
  for (const auto &[other, name] : ties.getDoubtful())
    diagnostics.error("'" + other + "' begins with the values of '" + name +
                      "' and the file holds them once: one parameter, or two that begin equal; tie: [[" + name + ", " +
                      other + "]] says one, untie: [" + other + "] says two");
  if (!weak.guessed.empty())
    diagnostics.warning("these begin as one repeated number that the file holds once, and are taken as parameters of "
                        "their own: " +
                        listNames(weak.guessed) + "; where they are one, say so with tie");
}
