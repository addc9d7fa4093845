// Selects the source of decisions about parameters, renumbers them and their uses, and describes their shapes.
#include "Parameters.h"

#include "ConstantTensor.h"
#include "Files/SafetensorsHeader.h"
#include "FoldedConstants.h"
#include "StateDictPlan.h"

using namespace llvm;
using namespace xlc::onnx;

ParameterPlan xlc::onnx::planParameters(Model &model, const BatchNorms &norms, const xlc::Spec &spec,
                                        FileDiagnostics &diagnostics, raw_ostream *notes) {
  bool hasStateDict = spec.init.from == xlc::InitSpec::From::StateDict;
  auto decide = hasStateDict ? planFromStateDict : model.record ? planRecorded : inferParameters;
  ParameterPlan plan = decide(model, norms, spec, diagnostics, notes);
  if (hasStateDict || model.record)
    plan.findConstants(model, norms);
  if (!model.record && (hasStateDict || !model.signature.parameters.empty()))
    refuseFoldedConstants(model, plan, spec, diagnostics);
  for (const Parameter &parameter : plan.parameters) // which are written to safetensors files
    if (parameter.name == xlc::runtime::metadataName)
      diagnostics.error("a parameter is called '" + parameter.name +
                        "', a reserved name of safetensors files; give it another name");
  return plan;
}

void ParameterPlan::keep(ArrayRef<int> order) {
  std::vector<Parameter> kept;
  std::vector<int> place(parameters.size(), -1);
  for (int from : order) {
    place[from] = (int)kept.size();
    kept.push_back(std::move(parameters[from]));
  }
  parameters = std::move(kept);
  for (auto &[at, use] : uses)
    use.parameter = place[use.parameter];
  for (auto &[node, parameter] : vanishedBiases)
    parameter = place[parameter];
}

StringMap<std::string> ParameterPlan::resolveTies() const {
  StringMap<std::string> next, resolved;
  for (const auto &[name, parameter] : ties)
    next[name] = parameter;
  for (const auto &[name, parameter] : ties) {
    std::string last = parameter;
    for (size_t steps = 0; steps < ties.size() && next.contains(last); ++steps)
      last = next[last];
    resolved[name] = last;
  }
  return resolved;
}

void ParameterPlan::readInstead(int from, int to) {
  for (auto &[at, use] : uses)
    use.parameter = use.parameter == from ? to : use.parameter;
  for (auto &[node, parameter] : vanishedBiases)
    parameter = parameter == from ? to : parameter;
}

void ParameterPlan::addBuffers(const Model &model, const BatchNorms &norms, FileDiagnostics &diagnostics) {
  llvm::StringMap<unsigned> initializers;
  llvm::StringMap<int> known;
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    initializers[tensor.name] = (unsigned)i;
  for (const auto &[place, use] : norms.uses) {
    unsigned index = initializers.lookup(model.nodes[place.first].inputs[place.second]);
    const FileTensor &tensor = model.initializers[index];
    auto [entry, isNew] = known.try_emplace(use.name, (int)parameters.size());
    if (isNew && !isFloat(tensor.type))
      diagnostics.error("running average '" + tensor.name + "' has element type " + nameOfType(tensor.storedType) +
                        "; running averages must be float: call model.float() before the export");
    if (isNew)
      parameters.push_back({use.name, tensor.shape, (int)index, false, use.buffer, {}, false, {}});
    isParameter[index] = true;
    uses[place] = {entry->second, {}};
  }
}

bool xlc::onnx::checkStoredType(const FileTensor &tensor, FileDiagnostics &diagnostics) {
  if (isFloat(tensor.type)) // NarrowTypes.cpp
    return true;
  diagnostics.error("parameter '" + tensor.name + "' has element type " + nameOfType(tensor.storedType) +
                    "; parameters must be float: call model.float() before the export");
  return false;
}

void xlc::onnx::checkTrainable(const Model &model, const ParameterPlan &plan, const xlc::Spec &spec,
                               FileDiagnostics &diagnostics) {
  SmallVector<StringRef> names;
  for (const Parameter &parameter : plan.parameters)
    names.push_back(parameter.name);
  names.append(plan.lost.begin(), plan.lost.end());
  for (const ParameterPlan::Constant &constant : plan.constants)
    names.push_back(model.initializers[constant.initializer].name);
  for (const Node &node : model.nodes) // a constant that was merged with a parameter has a name only here
    if (node.op == "Identity" && !node.outputs.empty())
      names.push_back(node.outputs[0]);
  for (StringRef pattern : spec.trainable) {
    StringRef bare = pattern.starts_with("!") ? pattern.drop_front() : pattern;
    if (names.empty() || llvm::any_of(names, [&](StringRef name) { return xlc::matchesPatterns(name, {bare.str()}); }))
      continue;
    std::optional<StringRef> nearest = xlc::findNearest(bare, names);
    diagnostics.warning("trainable has the pattern '" + pattern + "', which does not match a parameter" +
                        (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
  }
}

void ParameterPlan::findConstants(const Model &model, const BatchNorms &norms) {
  StringSet<> buffers;
  buffers.insert_range(model.signature.buffers);
  if (model.record)
    for (const ExportRecord::Tensor &tensor : model.record->buffers)
      buffers.insert(tensor.name);
  StringMap<unsigned> indices;
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    if (isFloat(tensor.type) && !buffers.contains(tensor.name))
      indices[tensor.name] = (unsigned)i;
  std::map<unsigned, std::vector<unsigned>> readers; // initializer -> the nodes that read it as a constant
  for (unsigned n = 0; n < model.nodes.size(); ++n)
    for (unsigned i = 0; i < model.nodes[n].inputs.size(); ++i)
      if (auto found = indices.find(model.nodes[n].inputs[i]);
          found != indices.end() && !uses.count({n, i}) && !norms.uses.count({n, i}))
        readers[found->second].push_back(n);
  for (auto &[index, nodes] : readers) {
    if (!isParameter[index])
      constants.push_back({index, std::move(nodes)});
    isParameter[index] = false;
  }
}
