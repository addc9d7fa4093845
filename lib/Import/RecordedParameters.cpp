// The plan of parameters for a file with a record (ExportRecord.h): the parameters are the record's, by the names of
// initializers, and nothing is inferred from values, shapes or modules. The remaining check is that the graph is the
// one that was recorded: a tool that folded, merged or transposed a parameter afterwards has changed how often it is
// read.
#include "Parameters.h"

#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

class RecordedPlanner {
public:
  RecordedPlanner(const Model &model, const BatchNorms &norms, const xlc::Spec &spec, FileDiagnostics &diagnostics,
                  raw_ostream *notes)
      : model(model), norms(norms), spec(spec), diagnostics(diagnostics), notes(notes) {}

  ParameterPlan plan() {
    result.isParameter.assign(model.initializers.size(), false);
    for (auto [i, tensor] : llvm::enumerate(model.initializers))
      initializers[tensor.name] = (unsigned)i;
    findReads();
    for (const ExportRecord::Tensor &tensor : model.record->parameters)
      addParameter(tensor);
    for (const ExportRecord::Tensor &tensor : model.record->buffers)
      if (!isAverage(tensor.name))
        checkReads(tensor, "buffer");
    refuseTies();
    result.addBuffers(model, norms, diagnostics);
    return std::move(result);
  }

private:
  using Place = std::pair<unsigned, unsigned>; ///< node, input

  void findReads() {
    for (auto [n, node] : llvm::enumerate(model.nodes))
      for (auto [i, name] : llvm::enumerate(node.inputs))
        if (initializers.contains(name))
          reads[name].push_back({(unsigned)n, (unsigned)i});
  }

  void addParameter(const ExportRecord::Tensor &recorded) {
    auto found = initializers.find(recorded.name);
    if (found == initializers.end())
      return diagnostics.error(
          "the export record lists the parameter '" + recorded.name +
          "', which is not an initializer of the file: the file was changed after the export; export it again");
    const FileTensor &tensor = model.initializers[found->second];
    if (tensor.shape != recorded.shape)
      return diagnostics.error("parameter '" + recorded.name + "' has shape " + describeShape(recorded.shape) +
                               " in the export record, but shape " + describeShape(tensor.shape) +
                               " in the file: the file was changed after the export; export it again");
    if (!checkReads(recorded, "parameter") || !checkStoredType(tensor, diagnostics))
      return;
    Parameter parameter{.name = recorded.name, .shape = recorded.shape, .initializer = (int)found->second};
    for (const std::string &name : recorded.ties)
      result.ties.emplace_back(name, recorded.name);
    result.isParameter[found->second] = true;
    if (recorded.reads == 0) {
      note("no node reads '" + recorded.name + "': it has no gradient, as in PyTorch, and is not part of the program");
      result.unread.push_back(std::move(parameter));
      return;
    }
    bool isNamed = llvm::is_contained(spec.trainable, recorded.name);
    if (!recorded.requiresGradient)
      note("'" + recorded.name +
           "' has requires_grad=False: " + (isNamed ? "trained, since it matches trainable" : "not trained"));
    parameter.isFrozen = !recorded.requiresGradient && !isNamed;
    for (const Place &place : reads.lookup(recorded.name))
      result.uses[place] = {(int)result.parameters.size(), {}};
    result.parameters.push_back(std::move(parameter));
  }

  /// Norms that share running averages have been chained, so that only the first still reads them.
  bool isAverage(StringRef name) const {
    return llvm::any_of(norms.uses,
                        [&](const auto &use) { return model.nodes[use.first.first].inputs[use.first.second] == name; });
  }

  bool checkReads(const ExportRecord::Tensor &recorded, StringRef kind) {
    int64_t found = (int64_t)reads.lookup(recorded.name).size();
    if (found == recorded.reads)
      return true;
    diagnostics.error("the export record lists " + Twine(recorded.reads) + " reads of " + kind + " '" + recorded.name +
                      "', but the graph has " + Twine(found) +
                      ": the file was changed after the export; export it again");
    return false;
  }

  void refuseTies() {
    for (auto [key, isGiven] : {std::pair("tie", !spec.tie.empty()), std::pair("untie", !spec.untie.empty())})
      if (isGiven)
        diagnostics.error(spec, key,
                          Twine(key) + " cannot be used here: the file's export record lists PyTorch's ties; tie or "
                                       "untie the parameters in PyTorch before the export");
  }

  void note(const Twine &text) {
    if (notes)
      *notes << text << "\n";
  }

  const Model &model;
  const BatchNorms &norms;
  const xlc::Spec &spec;
  FileDiagnostics &diagnostics;
  raw_ostream *notes;
  ParameterPlan result;
  StringMap<unsigned> initializers;
  StringMap<std::vector<Place>> reads; ///< of each initializer
};

} // namespace

ParameterPlan xlc::onnx::planRecorded(Model &model, const BatchNorms &norms, const xlc::Spec &spec,
                                      FileDiagnostics &diagnostics, raw_ostream *notes) {
  return RecordedPlanner(model, norms, spec, diagnostics, notes).plan();
}
