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
      notes("'" + name + "' is not used, as in PyTorch, and is not trained");
    else
      unread.push_back(name);
  }
  auto complain = [&](const std::vector<std::string> &missing, const Twine &what, const Twine &why,
                      StringRef causes = "") {
    if (!missing.empty())
      diagnostics.error("the exporter " + what + " " + Twine(missing.size()) + " of the model's " +
                        Twine(model.signature.parameters.size()) + " parameters " + why + ": " + listNames(missing) +
                        causes + "; " + adviseExport(model) + ", or freeze them with trainable: " + "[\"*\", \"!" +
                        missing.front() + "\"]");
  };
  const FileTensor *part = folded.empty() ? nullptr : found.find(folded.front());
  std::string replaced = part ? " ('" + part->name + "' replaces '" + folded.front() + "')" : "";
  complain(folded, "folded", "into constants" + replaced + ", so that they cannot be trained");
  complain(rearranged, "rearranged", "in an unknown way");
  complain(unread, "left", "unused in the graph",
           "; an unused parameter was folded into constants, merged with an equal parameter, or is not used by PyTorch "
           "either; a state dict (init: {from: state.safetensors}) distinguishes these cases");
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
    diagnostics.error("the exporter precomputed " + Twine(listNames(merged)) + ", and merged '" + merged.front() +
                      "' with parameter '" + first->name + "', which has the same initial values, so that " +
                      model.nodes[first->node].describe() + " would read the parameter; " + adviseExport(model) +
                      ", or freeze '" + first->name + "' with trainable: [\"*\", \"!" + first->name + "\"]");
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
    diagnostics.error(
        "the exporter precomputed " + Twine(computed.size()) + (computed.size() == 1 ? " tensor" : " tensors") +
        ", and the file does not record whether from parameters or from constants: " + listNames(computed) + " ('" +
        computed.front() + "' is read by " + reader->describe() + "); " + adviseExport(model) +
        "; if they are constants, freeze them with trainable: [\"*\", \"!" + computed.front() + "\"]");
  if (!plain.empty())
    diagnostics.warning("the exporter precomputed " + listNames(plain) +
                        ", and the file does not record whether from parameters or from constants; " +
                        (plain.size() == 1 ? "it is treated as a constant" : "they are treated as constants") +
                        "; if a parameter was involved, " + adviseExport(model));
}

void LostParameters::warn(const ParameterPlan &plan, const WeakEvidence &weak, const ParameterTies &ties) const {
  std::vector<std::string> madeUp;
  for (const Parameter &parameter : plan.parameters)
    if (weak.nameless.contains(parameter.name))
      madeUp.push_back(parameter.name);
  if (!madeUp.empty())
    diagnostics.warning("the file does not name " + Twine(madeUp.size()) + " of the model's " +
                        Twine(plan.parameters.size()) + " parameters; they are called " + listNames(madeUp) +
                        ", and these tensors are trained; torch.onnx.export(..., dynamo=True) keeps the names of "
                        "parameters; if the model computes these tensors from parameters (W + B A, W * scale), "
                        "xlc_export keeps the parameters");
  if (!weak.copies.empty())
    diagnostics.warning(
        "these parameters have the initial values of another layer and are treated as independent copies: " +
        listNames(weak.copies) + "; if they are one parameter, use tie");
  for (const auto &[other, name] : ties.getDoubtful())
    diagnostics.error("'" + other + "' has the initial values of '" + name +
                      "', and the file stores them once: the two are one parameter, or have equal initial values; set "
                      "tie: [[" +
                      name + ", " + other + "]] for one parameter, or untie: [" + other + "] for two parameters");
  if (!weak.guessed.empty())
    diagnostics.warning(
        "these parameters are initialized with one repeated number that the file stores once, and are treated as "
        "separate parameters: " +
        listNames(weak.guessed) + "; if they are one parameter, use tie");
}
