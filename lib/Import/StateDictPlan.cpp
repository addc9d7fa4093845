// A state dict of the exported module determines the parameters, their names, shapes and initial values; the graph
// determines their uses. The exporter's changes are undone:
//
//   transposed, permuted, reshaped     by the values, or by the shape if the values are of another training
//   merged                             by names and modules (StateDictReads.cpp)
//   dropped, since it was zero         a bias belongs to the product with the weight of the corresponding name
//   anything else                      an error that names the missing entry and a remedy
#include "StateDictPlan.h"

#include "StateDictReads.h"
#include "VanishedBiases.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr StringLiteral help =
    ", or exclude a parameter with trainable: [\"*\", \"!NAME\"], or tie it with tie: [[OTHER, NAME]]";

class StateDictPlanner {
public:
  StateDictPlanner(Model &model, const BatchNorms &norms, const xlc::Spec &spec, const StateDict &dict,
                   FileDiagnostics &diagnostics, raw_ostream *notes)
      : model(model), norms(norms), spec(spec), dict(dict), diagnostics(diagnostics), notes(notes), names(model),
        match(model, dict, names, spec, diagnostics), known(names.findKnown()) {}

  void plan(ParameterPlan &result) {
    if (!match.compare(findBuffers()))
      return;
    if (model.record)
      return planByRecord(result);
    parameterOf.assign(match.entries.size(), -1);
    StateDictReads finder(model, names, match, norms);
    reads = finder.find();
    if (!finder.undecided.empty())
      diagnostics.error("the state dict does not determine all parameters that nodes of the model read: " +
                        listSome(finder.undecided) + "; " + adviseExport(model) + Twine(help));
    for (const StateRead &read : reads)
      if (read.entry >= 0)
        result.uses[{read.node, read.input}] = {addParameter(read, result), read.view};
    markParameters(result);
    restoreBiases(result);
    if (finder.undecided.empty()) {
      complainOfUnlisted(result);
      if (!diagnostics.hasErrors())
        complainOfUnread(result);
    }
    finish(result);
  }

private:
  StringSet<> findBuffers() const {
    StringSet<> buffers;
    buffers.insert_range(model.signature.buffers);
    for (const auto &[place, use] : norms.uses)
      buffers.insert(use.name);
    return buffers;
  }

  void note(const Twine &text) {
    if (notes)
      *notes << text << "\n";
  }

  /// Where the file has a record, names are certain; values are the state dict's.
  void planByRecord(ParameterPlan &result) {
    result = planRecorded(model, norms, spec, diagnostics, notes);
    StringMap<int> entries;
    std::vector<std::string> missing, wrong;
    for (const ExportRecord::Tensor &recorded : model.record->parameters)
      if (int entry = match.findRecorded(recorded); entry >= 0)
        entries[recorded.name] = entry;
      else
        missing.push_back("'" + recorded.name + "'");
    for (Parameter &parameter : result.parameters) {
      auto found = entries.find(parameter.name);
      if (found == entries.end())
        continue;
      const StateEntry &entry = match.entries[found->second];
      if (!match.fits(found->second, (unsigned)parameter.initializer))
        wrong.push_back("'" + entry.name() + "' " + match.explain(found->second));
      parameter.name = entry.name();
      parameter.value = dict.initialValue(*entry.tensor, diagnostics);
    }
    complainOfMissing(missing);
    complainOfWrong(wrong);
    takeBuffers(result);
    say(result);
  }

  int addParameter(const StateRead &read, ParameterPlan &result) {
    int &parameter = parameterOf[read.entry];
    const std::string &name = match.entries[read.entry].name(), &file = model.initializers[read.initializer].name;
    if (file != name && said.insert(file + "\n" + name).second)
      note("'" + file + "' is '" + name + "'" +
           (read.view.permutation.empty()       ? ""
            : read.view.permutation.size() == 2 ? ", transposed"
                                                : ", permuted") +
           (read.view.shape.empty() ? "" : ", as " + describeShape(read.view.shape)));
    return parameter >= 0 ? parameter : addParameter(read.entry, (int)read.initializer, read.user, result);
  }

  int addParameter(int entry, int initializer, unsigned position, ParameterPlan &result) {
    const StateEntry &from = match.entries[entry];
    parameterOf[entry] = (int)result.parameters.size();
    Parameter &made = result.parameters.emplace_back(
        Parameter{.name = from.name(), .shape = from.shape(), .initializer = initializer});
    made.value = dict.initialValue(*from.tensor, diagnostics);
    positions.push_back(position);
    return parameterOf[entry];
  }

  /// Who asks for the shape only of what is a parameter elsewhere is answered by it.
  void markParameters(ParameterPlan &result) {
    for (auto [i, all] : llvm::enumerate(names.findReads())) {
      const ParameterUse *use = nullptr;
      for (const Read &read : all)
        if (auto found = result.uses.find({read.node, read.input}); found != result.uses.end())
          use = &found->second;
      result.isParameter[i] = use;
      for (const Read &read : all)
        if (StringRef op = model.nodes[read.node].op; use && (op == "Shape" || op == "Size"))
          result.uses.try_emplace({read.node, read.input}, *use);
    }
  }

  bool isPlanned(int entry) const { return parameterOf[match.entries[entry].tied] >= 0; }

  /// The bias that is called like the weight, if the state dict has it and nothing reads it.
  int findLostBias(StringRef weight, int64_t size) const {
    if (!weight.consume_back("weight"))
      return -1;
    auto found = match.byName.find((weight + "bias").str());
    if (found == match.byName.end() || isPlanned(found->second))
      return -1;
    const StateEntry &bias = match.entries[found->second];
    bool isZero = bias.content.isUniform && bias.content.value == 0;
    return bias.shape() == std::vector<int64_t>{size} && (isZero || !match.isSame) ? found->second : -1;
  }

  void restoreBiases(ParameterPlan &result) {
    std::map<unsigned, int> lost; // node -> entry
    for (const BiaslessNode &found : findBiaslessNodes(model)) {
      auto weight = result.uses.find(found.read);
      if (weight == result.uses.end())
        continue;
      std::vector<int> biases;
      for (auto [e, entry] : llvm::enumerate(match.entries))
        if (parameterOf[entry.tied] == weight->second.parameter)
          if (int bias = findLostBias(entry.called, found.outputs); bias >= 0)
            biases.push_back(bias);
      auto isHere = [&](int bias) {
        return splitName(match.entries[bias].called).first == model.nodes[found.node].scope;
      };
      if (auto here = llvm::find_if(biases, isHere); here != biases.end())
        lost[found.node] = *here;
      else if (biases.size() == 1)
        lost[found.node] = biases.front();
    }
    for (auto [node, entry] : lost) {
      int first = match.entries[entry].tied;
      if (parameterOf[first] < 0) {
        note("'" + match.entries[first].name() + "' was dropped because it was zero, and is restored");
        addParameter(first, -1, node, result);
      }
      result.vanishedBiases[node] = parameterOf[first];
    }
  }

  void complainOfUnread(ParameterPlan &result) {
    std::vector<std::string> items;
    for (int e = 0; e < (int)match.entries.size(); ++e) {
      const StateEntry &entry = match.entries[e];
      bool isLeftOut = entry.isFrozen && (entry.own < 0 || match.fits(e, (unsigned)entry.own));
      if (entry.isBuffer || isPlanned(e))
        continue;
      if (isLeftOut)
        result.lost.push_back(entry.name());
      else
        items.push_back("'" + entry.name() + "' " + match.explain(e));
    }
    complainOfWrong(items);
  }

  void complainOfWrong(ArrayRef<std::string> items) {
    if (!items.empty())
      diagnostics.error("the model does not match " + Twine(items.size()) + " of the " + Twine(match.entries.size()) +
                        " tensors of the state dict '" + dict.path() + "': " + listSome(items) +
                        "; exporters fold parameters into constants: " + adviseExport(model) + Twine(help));
  }

  /// Parameters that the file has and the state dict lacks. A name for what another name has, too, is a tie.
  void complainOfUnlisted(ParameterPlan &result) {
    std::vector<std::string> missing;
    for (const std::string &name : names.hasSignature() ? model.signature.parameters : findUnexplained()) {
      if (match.byName.contains(name))
        continue;
      if (int parameter = findTied(name); parameter >= 0)
        tie(name, result.parameters[parameter].name, result);
      else if (xlc::matchesPatterns(name, spec.trainable))
        missing.push_back("'" + name + "'");
    }
    complainOfMissing(missing);
  }

  void complainOfMissing(ArrayRef<std::string> missing) {
    if (!missing.empty())
      diagnostics.error("the state dict '" + dict.path() + "' lacks " + Twine(missing.size()) +
                        (missing.size() == 1 ? " parameter" : " parameters") + " of the model: " + listSome(missing) +
                        "; use the state dict of the exported module");
  }

  /// The parameter that is read where one of this name would be, and whose values in the file no other has.
  int findTied(StringRef name) const {
    for (const StateRead &read : reads) {
      const Node &user = model.nodes[read.user];
      bool isHere = user.scope == splitName(name).first && read.node == read.user &&
                    nameOperand(user, read.input) == splitName(name).second;
      if ((read.name != name && !isHere) || read.entry < 0 || !match.isUnique(read.initializer) || isRenamed(read))
        continue;
      if (!areSiblings(name, match.entries[read.entry].called))
        return parameterOf[read.entry];
    }
    return -1;
  }

  /// The file knows the parameter by a name that the state dict lacks, and does not know that of the state dict.
  bool isRenamed(const StateRead &read) const {
    StringRef called = match.entries[read.entry].called;
    return !known.contains(called) && llvm::none_of(reads, [&](const StateRead &other) {
      return other.entry == read.entry && model.nodes[other.user].scope == splitName(called).first;
    });
  }

  /// Without a signature: names of what the file calls as parameters are called, or uses so.
  std::vector<std::string> findUnexplained() const {
    std::vector<std::string> unexplained;
    StringSet<> seen, buffers = findBuffers();
    for (const StateRead &read : reads) {
      const FileTensor &tensor = model.initializers[read.initializer];
      StringRef leaf = nameOperand(model.nodes[read.user], read.node == read.user ? read.input : 0);
      bool isWeight = leaf == "weight" && model.nodes[read.user].op != "Mul" && tensor.shape.size() > 1;
      bool looksSo = names.isOwnName(read.name) ? StringRef(read.name).contains('.') : read.entry < 0 && isWeight;
      if (looksSo && !buffers.contains(read.name) && seen.insert(read.name).second)
        unexplained.push_back(read.name);
    }
    return unexplained;
  }

  void tie(const std::string &name, const std::string &parameter, ParameterPlan &result) {
    result.ties.emplace_back(name, parameter);
    note("'" + name + "' is tied to '" + parameter + "': treated as one parameter");
  }

  void finish(ParameterPlan &result) {
    for (int e = 0; e < (int)match.entries.size(); ++e)
      if (match.entries[e].tied != e && isPlanned(e))
        tie(match.entries[e].name(), match.entries[match.entries[e].tied].name(), result);
    std::vector<int> order(result.parameters.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = (int)i;
    std::vector<unsigned> ranks(order.size());
    for (auto [e, entry] : llvm::enumerate(match.entries))
      if (entry.tied == (int)e && parameterOf[e] >= 0)
        ranks[parameterOf[e]] = names.rank(entry.called);
    auto rankOf = [&](int i) { return std::make_tuple(ranks[i], positions[i], i); };
    llvm::sort(order, [&](int a, int b) { return rankOf(a) < rankOf(b); });
    result.keep(order);
    result.addBuffers(model, norms, diagnostics);
    takeBuffers(result);
    say(result);
  }

  void takeBuffers(ParameterPlan &result) {
    for (Parameter &parameter : result.parameters)
      if (auto entry = match.byName.find(parameter.name); !parameter.value && entry != match.byName.end())
        takeBuffer(match.entries[entry->second], parameter);
    replaceConstants();
  }

  void takeBuffer(const StateEntry &entry, Parameter &buffer) {
    if (entry.shape() != buffer.shape)
      diagnostics.error("buffer '" + buffer.name + "' has shape " + describeShape(entry.shape()) +
                        " in the state dict, but shape " + describeShape(buffer.shape) + " in the model");
    else
      buffer.value = dict.initialValue(*entry.tensor, diagnostics), buffer.name = entry.name();
  }

  /// Buffers that are constants of the graph have the state dict's values.
  void replaceConstants() {
    for (const StateEntry &entry : match.entries) {
      if (!entry.isBuffer || entry.own < 0)
        continue;
      FileTensor &tensor = model.initializers[entry.own];
      std::vector<float> elements;
      if (tensor.type != ElementType::Float || tensor.shape != entry.shape() ||
          !dict.read(*entry.tensor, elements, diagnostics))
        continue;
      tensor.bytes.assign(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(float));
      tensor.isExternal = tensor.isAbsent = false;
    }
  }

  /// Which of both it was, in one line.
  void say(const ParameterPlan &result) {
    if (diagnostics.hasErrors())
      return;
    std::string count = std::to_string(result.parameters.size());
    if (match.isSame)
      diagnostics.note("the state dict is that of the exported module, and determines names, shapes and values of " +
                       count + " tensors ('" + dict.path() + "')");
    else
      diagnostics.note("the state dict comes from a different training run than the model's values: " + count +
                       " tensors are matched by name and shape, and initialized with its values ('" + dict.path() +
                       "')");
  }

  Model &model;
  const BatchNorms &norms;
  const xlc::Spec &spec;
  const StateDict &dict;
  FileDiagnostics &diagnostics;
  raw_ostream *notes;
  ParameterNames names;
  StateDictMatch match;
  StringSet<> known; ///< names that the file says
  std::vector<StateRead> reads;
  std::vector<int> parameterOf;    ///< per entry; -1: none
  std::vector<unsigned> positions; ///< per parameter: the first node that reads it
  StringSet<> said;
};

} // namespace

ParameterPlan xlc::onnx::planFromStateDict(Model &model, const BatchNorms &norms, const xlc::Spec &spec,
                                           FileDiagnostics &diagnostics, raw_ostream *notes) {
  ParameterPlan result;
  result.isParameter.assign(model.initializers.size(), false);
  if (std::optional<StateDict> dict = StateDict::open(spec, diagnostics))
    StateDictPlanner(model, norms, spec, *dict, diagnostics, notes).plan(result);
  return result;
}
