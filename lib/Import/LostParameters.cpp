// What cannot be trained as PyTorch trains it, and what was concluded from weak evidence.
//
// The signature lists every parameter. One that nothing in the graph reads was folded into a constant (1 + w), merged
// with an equal one, or rearranged so that it is not recognised; training would go on without it, and the loss would
// fall all the same. So it is an error, unless the spec leaves the parameter as it is, or the file shows that PyTorch
// does not read it either. The old exporter has no list: there, what was computed at export may hold parameters.
#include "ParameterPlanner.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

/// The constant that was computed from the parameter `name`, as far as its place says: it has the name of a result in
/// PyTorch, and its reader is in the parameter's module or in the nearest one around it. Null where there is none.
const FileTensor *ParameterPlanner::findFolded(StringRef name) const {
  StringRef home = splitName(name).first;
  for (StringRef scope = home;; scope = splitName(scope).first) {
    for (const ParameterPlan::Constant &constant : result.constants) {
      const FileTensor &tensor = model.initializers[constant.initializer];
      bool mayStand =
          isMadeUp(tensor.name) ? scope == home && tensor.numElements() > 1 : !isNamedAsConstant(tensor.name);
      if (mayStand && llvm::any_of(constant.nodes, [&](unsigned node) { return model.nodes[node].scope == scope; }))
        return &tensor;
    }
    if (scope.empty())
      return nullptr;
  }
}

void ParameterPlanner::reportLost() {
  for (const std::string &name : model.signature.parameters)
    if (!accounted.contains(name))
      result.lost.push_back(name);
  refuseFolded(model, norms, spec.trainable, accounted, diagnostics);
  std::vector<std::string> folded, rearranged, unread;
  for (const std::string &name : result.lost) {
    if (accounted.contains(name) || !matchesPatterns(name, spec.trainable))
      continue;
    if (names.traced.isMentioned(name))
      rearranged.push_back(name);
    else if (findFolded(name))
      folded.push_back(name);
    else if (names.traced.isComplete())
      note("'" + name + "' is read by nothing, as in PyTorch: not trained");
    else
      unread.push_back(name);
  }
  auto complain = [&](const std::vector<std::string> &missing, const Twine &what, const Twine &why) {
    if (!missing.empty())
      diagnostics.error("the exporter " + what + " " + Twine(missing.size()) + " of its " +
                        Twine(model.signature.parameters.size()) + " parameters " + why + ": " + listNames(missing) +
                        "; export with optimize=False or with xlc_export, or leave them as they are with trainable: " +
                        "[\"*\", \"!" + missing.front() + "\"]");
  };
  const FileTensor *part = folded.empty() ? nullptr : findFolded(folded.front());
  complain(folded, "computed with",
           "once and for all ('" + (part ? part->name : "") + "' stands for what it made of the first), so that they " +
               "cannot be trained");
  complain(rearranged, "rearranged", "in a way that is not recognised");
  complain(unread, "lists",
           "that nothing in the graph reads: it computed with them once and for all or merged them with equal ones, or "
           "PyTorch does not use them either, which a state dict would tell (init: {from: state.safetensors})");
}

/// Without a signature: what the exporter computed is a parameter where it is a transpose, and otherwise unknown.
void ParameterPlanner::reportComputed() {
  std::vector<std::string> computed;
  const Node *reader = nullptr;
  for (const ParameterPlan::Constant &constant : result.constants) {
    const FileTensor &tensor = model.initializers[constant.initializer];
    bool isComputed = llvm::any_of(reads[constant.initializer], [](const Read &read) { return read.isComputed; });
    if (names.hasSignature() || !isComputed || !matchesPatterns(tensor.name, spec.trainable))
      continue;
    computed.push_back(tensor.name);
    for (unsigned node : constant.nodes)
      if (!reader && model.nodes[node].op != "Identity")
        reader = &model.nodes[node];
  }
  if (!computed.empty())
    diagnostics.error(
        "the exporter computed " + Twine(computed.size()) + (computed.size() == 1 ? " tensor" : " tensors") +
        ", from parameters or from constants, which the file does not say: " + listNames(computed) +
        (reader ? ", the first read by " + reader->describe() : "") +
        "; export with do_constant_folding=False, with dynamo=True and optimize=False, or with xlc_export; "
        "constants stay as they are with trainable: [\"*\", \"!" +
        computed.front() + "\"]");
}

void ParameterPlanner::warn() {
  std::vector<std::string> madeUp;
  for (const Parameter &parameter : result.parameters)
    if (nameless.contains(parameter.name))
      madeUp.push_back(parameter.name);
  if (!madeUp.empty())
    diagnostics.warning("the file does not name " + Twine(madeUp.size()) + " of its " +
                        Twine(result.parameters.size()) + " parameters; they are called " + listNames(madeUp) +
                        ": torch.onnx.export(..., dynamo=True) leaves their names");
  if (!copies.empty())
    diagnostics.warning(
        "these begin with the values of another layer and are taken as copies that go their own ways: " +
        listNames(copies) + "; where they are one parameter, say so with tie");
  if (!guessed.empty())
    diagnostics.warning("these begin as one repeated number that the file holds once, and are taken as parameters of "
                        "their own: " +
                        listNames(guessed) + "; where they are one, say so with tie");
}
