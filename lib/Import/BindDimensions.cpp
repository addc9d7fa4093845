// Binds the size of every dimension of an input before the graph is built: dimension 0 is the batch, others are fixed
// by the file or named there and in the spec. So all values have static shapes, and shape arithmetic is evaluated.
#include "Loss.h"

#include <map>
#include <set>

using namespace xlc;
using namespace xlc::onnx;
using llvm::Twine;

namespace {

class DimensionBinder {
public:
  DimensionBinder(Model &model, const Spec &spec, const ImportOptions &options, FileDiagnostics &diagnostics)
      : model(model), spec(spec), shapes(options.shapes), diagnostics(diagnostics) {}

  /// Dimension 0 is the micro-batch; its symbol, and those of spec.dims, have one value everywhere.
  void bindAll() {
    std::map<std::string, int64_t> bound(spec.dims.begin(), spec.dims.end());
    std::set<std::string> known;
    for (ModelInput &input : model.inputs)
      bindShape(input, bound);
    for (ModelInput &input : model.inputs)
      for (auto [d, dimension] : llvm::enumerate(input.shape)) {
        if (d == 0)
          bindBatch(input, dimension, bound);
        else
          refuseBatch(input, d);
        if (!dimension.name.empty())
          known.insert(dimension.name);
      }
    std::string missing;
    for (ModelInput &input : model.inputs)
      for (auto [d, dimension] : llvm::enumerate(input.shape))
        bind(input, d, dimension, bound, missing);
    if (!missing.empty())
      diagnostics.error("symbolic dimensions need a value in the spec (dims: {NAME: SIZE}): " + missing);
    for (const auto &[name, size] : spec.dims)
      if (!known.count(name))
        diagnostics.error(spec, "dims." + name,
                          "dims names '" + name + "', which is not a dimension of the model; the model has " +
                              list(known));
  }

private:
  static std::string list(const std::set<std::string> &names) {
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "'" : ", '") + name + "'";
    return text.empty() ? "none" : text;
  }

  /// The sizes of rows that are at hand.
  void bindShape(ModelInput &input, std::map<std::string, int64_t> &bound) {
    auto given = shapes.find(input.name);
    if (given == shapes.end())
      return;
    if (given->second.size() != input.shape.size())
      return diagnostics.error("input '" + input.name + "' has " + Twine(input.shape.size()) +
                               " dimensions, but its data has " + Twine(given->second.size()));
    for (size_t d = 1; d < input.shape.size(); ++d) {
      Dimension &dimension = input.shape[d];
      int64_t size = given->second[d];
      if (dimension.size && *dimension.size != size)
        diagnostics.error("dimension " + Twine(d) + " of input '" + input.name + "' is " + Twine(*dimension.size) +
                          ", but " + Twine(size) + " in the data");
      else if (!dimension.name.empty())
        bound[dimension.name] = size;
      else
        dimension.size = size;
    }
  }

  void bindBatch(const ModelInput &input, Dimension &dimension, std::map<std::string, int64_t> &bound) {
    if (dimension.size && *dimension.size != spec.microBatch)
      return diagnostics.error(spec, "batch.micro",
                               "dimension 0 of input '" + input.name + "' is fixed at " + Twine(*dimension.size) +
                                   ", but batch.micro is " + Twine(spec.microBatch) +
                                   "; export the model with a dynamic batch, or set batch.micro to " +
                                   Twine(*dimension.size));
    if (dimension.name.empty())
      return void(dimension.size = spec.microBatch);
    auto [it, isNew] = bound.try_emplace(dimension.name, spec.microBatch);
    if (!isNew && it->second != spec.microBatch)
      diagnostics.error(spec, "dims." + dimension.name,
                        "dimension '" + dimension.name + "' is the batch of input '" + input.name +
                            "': dims sets it to " + Twine(it->second) + ", but batch.micro is " +
                            Twine(spec.microBatch) + "; remove it from dims");
    it->second = spec.microBatch;
  }

  /// Exporters name what the user has named, and the batch is mostly called so.
  static bool isCalledBatch(llvm::StringRef name) {
    return name.equals_insensitive("batch") || name.starts_with_insensitive("batch_");
  }

  /// A batch behind the sequence, as PyTorch's recurrent networks and transformers have it by default.
  void refuseBatch(const ModelInput &input, size_t d) {
    const std::string &name = input.shape[d].name, &first = input.shape[0].name;
    if (!isCalledBatch(name) || isCalledBatch(first))
      return;
    std::string other = first.empty() ? "is unnamed" : "is called '" + first + "'";
    diagnostics.error("dimension " + Twine(d) + " of input '" + input.name + "' is called '" + name +
                      "', but dimension 0, which xlc treats as the batch, " + other +
                      ": transpose the input in the model, so that its rows are samples");
  }

  void bind(const ModelInput &input, size_t d, Dimension &dimension, const std::map<std::string, int64_t> &bound,
            std::string &missing) {
    if (dimension.size)
      return;
    auto it = bound.find(dimension.name);
    if (!dimension.name.empty() && it != bound.end() && it->second > 0)
      return void(dimension.size = it->second);
    std::string what = dimension.name.empty()
                           ? "the unnamed dimension " + std::to_string(d) + " of '" + input.name + "'"
                           : "'" + dimension.name + "'";
    if (missing.find(what) == std::string::npos)
      missing += (missing.empty() ? "" : ", ") + what;
  }

  Model &model;
  const Spec &spec;
  const std::map<std::string, std::vector<int64_t>> &shapes;
  FileDiagnostics &diagnostics;
};

} // namespace

void xlc::onnx::bindDimensions(Model &model, const Spec &spec, const ImportOptions &options,
                               FileDiagnostics &diagnostics) {
  DimensionBinder(model, spec, options, diagnostics).bindAll();
}

llvm::SmallVector<int64_t> xlc::onnx::findUnusedSizes(const Model &model) {
  llvm::SmallVector<int64_t> found;
  for (int64_t prime : {5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97}) {
    auto divides = [&](int64_t size) { return size > 0 && size % prime == 0; };
    bool isUsed = llvm::any_of(model.initializers, [&](const FileTensor &t) { return llvm::any_of(t.shape, divides); });
    for (const ModelInput &input : model.inputs)
      for (const Dimension &dimension : input.shape)
        isUsed |= divides(dimension.size.value_or(0));
    if (!isUsed && found.size() < 2)
      found.push_back(prime);
  }
  return found.size() == 2 ? found : llvm::SmallVector<int64_t>{101, 103};
}
