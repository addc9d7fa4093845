// Reports information that exporters omit although nothing in the file is wrong. Each kind that occurs in the model
// gets a line that names the parameters to check:
//
//   lookups without a padding row    of ids that are an input: the old exporter writes no padding_idx; a row of zeros is what
//                                    PyTorch begins it with
//   sinusoids                        tables that models compute, and mostly leave as they are: no file has requires_grad
//   a bias of zeros on the logits    may be a buffer: the old exporter does not tell them apart
//
// Parameters that the spec already covers (`padding`, `trainable`) are not reported.
#include "Untold.h"

#include "ParameterNames.h"
#include "TensorValues.h"
#include "ValueRelations.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr int64_t largestTable = int64_t(1) << 24; ///< elements of a table that is looked at
constexpr StringLiteral movingOps[] = {"Cast", "Flatten", "Identity", "Reshape", "Slice", "Squeeze", "Transpose"};
constexpr StringLiteral losses[] = {"LogSoftmax", "SoftmaxCrossEntropyLoss"};

class UntoldFinder {
public:
  UntoldFinder(const Model &model, const ParameterPlan &plan, const xlc::Spec &spec, FileDiagnostics &diagnostics)
      : model(model), plan(plan), spec(spec), diagnostics(diagnostics) {
    for (auto [i, node] : llvm::enumerate(model.nodes))
      for (const std::string &output : node.outputs)
        producers[output] = (unsigned)i;
    isOld = model.signature.parameters.empty() &&
            llvm::any_of(model.nodes, [](const Node &node) { return StringRef(node.name).starts_with("/"); });
  }

  void report() {
    reportSinusoids();
    if (!isOld)
      return;
    reportTables();
    reportBiases();
  }

private:
  bool isTrained(const Parameter &parameter) const {
    return parameter.buffer == Buffer::None && !parameter.isFrozen && parameter.initializer >= 0 &&
           xlc::matchesPatterns(parameter.name, spec.trainable);
  }

  /// Whether the spec names the parameter without a wildcard: then it was thought of.
  bool isDecided(const Parameter &parameter) const { return llvm::is_contained(spec.trainable, parameter.name); }

  void reportSinusoids() {
    std::vector<std::string> tables;
    for (const Parameter &parameter : plan.parameters) {
      if (!isTrained(parameter) || isDecided(parameter) || parameter.shape.size() != 2)
        continue;
      const FileTensor &tensor = model.initializers[parameter.initializer];
      if (isSinusoidTable({tensor.shape, readValues(tensor, largestTable)}))
        tables.push_back(parameter.name);
    }
    if (!tables.empty())
      diagnostics.warning(listNames(tables) + (tables.size() == 1 ? " holds" : " hold") +
                          " sinusoids, which most models do not train (requires_grad=False, which exporters do not "
                          "record); the program trains the sinusoids: freeze them with trainable: [\"*\", \"!" +
                          tables.front() + "\"], or confirm with trainable: [\"*\", \"" + tables.front() + "\"]");
  }

  /// Tables whose lookups train all rows.
  void reportTables() {
    std::vector<std::string> open, withZeros;
    for (auto [i, node] : llvm::enumerate(model.nodes)) {
      auto use = plan.uses.find({(unsigned)i, 0u});
      if (node.op != "Gather" || node.paddingIndex || use == plan.uses.end() || !isInput(node.inputs[1]))
        continue;
      const Parameter &table = plan.parameters[use->second.parameter];
      if (!isTrained(table) || table.shape.size() != 2 || llvm::is_contained(open, table.name) ||
          llvm::is_contained(withZeros, table.name))
        continue;
      (findRowOfZeros(table) ? withZeros : open).push_back(table.name);
    }
    constexpr StringLiteral why =
        "; the old exporter does not record padding_idx: if the Embedding has a padding_idx, exclude the row with "
        "padding: ";
    if (!withZeros.empty()) {
      const Parameter &first = *llvm::find_if(
          plan.parameters, [&](const Parameter &parameter) { return parameter.name == withZeros.front(); });
      diagnostics.warning("one row of " + listNames(withZeros) + " is zero, like a new padding row in PyTorch" +
                          Twine(why) + "{\"" + first.name + "\": " + Twine(findRowOfZeros(first).value_or(0)) + "}");
    }
    if (!open.empty())
      diagnostics.note("lookups train all rows of " + listNames(open) + Twine(why) + "{\"" + open.front() + "\": ROW}");
  }

  /// Whether a value is an input, its elements moved only.
  bool isInput(StringRef value) const {
    auto from = producers.find(value);
    while (from != producers.end() && llvm::is_contained(movingOps, model.nodes[from->second].op) &&
           model.nodes[from->second].hasInput(0)) {
      value = model.nodes[from->second].inputs[0];
      from = producers.find(value);
    }
    return llvm::any_of(model.inputs, [&](const ModelInput &input) { return input.name == value; });
  }

  /// The one row of a table that is zero.
  std::optional<int64_t> findRowOfZeros(const Parameter &table) const {
    std::vector<float> values = readValues(model.initializers[table.initializer], largestTable);
    if (values.empty() || table.isTransposed)
      return std::nullopt;
    std::optional<int64_t> found;
    size_t columns = table.shape[1];
    for (int64_t row = 0; row < table.shape[0]; ++row)
      if (llvm::all_of(ArrayRef(values).slice(row * columns, columns), [](float value) { return value == 0; })) {
        if (found)
          return std::nullopt;
        found = row;
      }
    return found;
  }

  /// The parameter that an Add adds to what ends in a loss or is an output.
  const Parameter *findBias(StringRef value) const {
    for (auto from = producers.find(value); from != producers.end();) {
      const Node &node = model.nodes[from->second];
      if (llvm::is_contained(movingOps, node.op) && node.hasInput(0)) {
        from = producers.find(node.inputs[0]);
        continue;
      }
      for (unsigned i = 0; node.op == "Add" && i < node.inputs.size(); ++i)
        if (auto use = plan.uses.find({from->second, i}); use != plan.uses.end())
          return &plan.parameters[use->second.parameter];
      return nullptr;
    }
    return nullptr;
  }

  void reportBiases() {
    std::vector<std::string> ends = model.outputs, biases;
    for (const Node &node : model.nodes)
      if (llvm::is_contained(losses, node.op) && node.hasInput(0))
        ends.push_back(node.inputs[0]);
    for (const std::string &end : ends)
      if (const Parameter *bias = findBias(end); bias && isTrained(*bias) && !isDecided(*bias) &&
                                                 !llvm::is_contained(biases, bias->name) &&
                                                 findOneValue(model.initializers[bias->initializer]) == 0)
        biases.push_back(bias->name);
    if (!biases.empty())
      diagnostics.note(listNames(biases) +
                       " is initially zero and is added to the logits; the old exporter does not distinguish "
                       "parameters from buffers: it is trained; to freeze it, set trainable: [\"*\", \"!" +
                       biases.front() + "\"]");
  }

  const Model &model;
  const ParameterPlan &plan;
  const xlc::Spec &spec;
  FileDiagnostics &diagnostics;
  StringMap<unsigned> producers;
  bool isOld;
};

} // namespace

void xlc::onnx::reportUntold(const Model &model, const ParameterPlan &plan, const xlc::Spec &spec,
                             FileDiagnostics &diagnostics) {
  if (!model.record && spec.init.from != xlc::InitSpec::From::StateDict)
    UntoldFinder(model, plan, spec, diagnostics).report();
}
