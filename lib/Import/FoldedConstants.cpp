// `m * x + (1 - m) * y` with a parameter m becomes m * x + sub * y if the exporter computes `sub` in advance. No
// parameter is missing, but m would be trained with half of its gradient. The evidence:
//
//   values   the constant is a simple function of a parameter (ValueRelations.cpp): an error that names both
//   names    the constant is called like a call in PyTorch: a warning, unless it looks like what is made of no parameter
//
// Constants that `trainable` of the spec excludes, by their own name or by the parameter's, are accepted.
#include "FoldedConstants.h"

#include "ConstantTensor.h"
#include "ParameterNames.h"
#include "TensorValues.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr int64_t largestTensor = int64_t(1) << 22; ///< elements of a tensor whose values are looked at
constexpr int64_t largestSum = int64_t(1) << 25;

class FoldedConstants {
public:
  FoldedConstants(const Model &model, const ParameterPlan &plan, const xlc::Spec &spec)
      : model(model), plan(plan), spec(spec), values(model) {
    for (auto [i, parameter] : llvm::enumerate(plan.parameters))
      if (parameter.initializer >= 0 && parameter.buffer == Buffer::None &&
          xlc::matchesPatterns(parameter.name, spec.trainable))
        trained.push_back((unsigned)i);
  }

  void report(FileDiagnostics &diagnostics) {
    std::vector<std::string> folded, open;
    std::string source;
    const Node *reader = nullptr;
    for (const ParameterPlan::Constant &constant : plan.constants) {
      const FileTensor &tensor = model.initializers[constant.initializer];
      const ValuedTensor &of = values[constant.initializer];
      if (!mayBeComputed(tensor) || of.values.empty())
        continue;
      std::string from = findSource(constant);
      if (from.empty() && !isRegular(of) && !isExplained(constant))
        open.push_back(tensor.name);
      if (from.empty())
        continue;
      folded.push_back(tensor.name);
      if (!reader)
        source = from, reader = &model.nodes[constant.nodes.front()];
    }
    if (reader)
      diagnostics.error("the exporter precomputed " + listNames(folded) + ": '" + folded.front() +
                        "' was computed from " + source + ", whose gradient through " + reader->describe() +
                        " would be lost; " + adviseExport(model) + ", or treat '" + folded.front() +
                        "' as a constant with trainable: [\"*\", \"!" + folded.front() + "\"]");
    if (!open.empty())
      diagnostics.warning(
          "the exporter precomputed " + listNames(open) +
          ", and the file does not record whether from constants or from parameters; the precomputed tensors "
          "are treated as constants: to confirm, set trainable: [\"*\", \"!" +
          open.front() + "\"]; otherwise " + adviseExport(model));
  }

  std::string findSource(const ParameterPlan::Constant &constant);

private:
  bool mayBeComputed(const FileTensor &tensor) const {
    bool isComputed = model.signature.parameters.empty() ? isMadeUp(tensor.name) : isNamedAfterCall(tensor.name);
    return isComputed && isFloat(tensor.type) && tensor.numElements() > 0 &&
           xlc::matchesPatterns(tensor.name, spec.trainable);
  }

  /// Any two progressions are functions of each other: 1, 2, 3 and a parameter that begins at 62, 63, 64. A constant that
  /// has as many elements as a parameter of its module was computed from it, unless it only counts:
  /// m = linspace(0.1, 0.9), and 1 - m.
  bool areByChance(const ParameterPlan::Constant &constant, unsigned parameter) {
    const ValuedTensor &a = values[constant.initializer], &b = values[plan.parameters[parameter].initializer];
    bool areBothRegular = !a.isUniform() && isRegular(a) && isRegular(b);
    return areBothRegular &&
           (a.values.size() != b.values.size() || countsUpwards(a.values) || !isBeside(constant, parameter));
  }

  /// Whether a parameter is gone that the spec leaves as it is, and that the constant may have been computed from: the
  /// reader is in its module or around it.
  bool isExplained(const ParameterPlan::Constant &constant) const {
    return llvm::any_of(plan.lost, [&](StringRef name) {
      StringRef home = splitName(name).first;
      return llvm::any_of(constant.nodes, [&](unsigned node) {
        StringRef scope = model.nodes[node].scope;
        return home == scope || scope.empty() || home.starts_with((scope + ".").str());
      });
    });
  }

  /// Whether a constant is read in the module of the parameter, or in one of those that read it.
  bool isBeside(const ParameterPlan::Constant &constant, unsigned parameter) const {
    return llvm::any_of(constant.nodes, [&](unsigned node) {
      StringRef scope = model.nodes[node].scope;
      return scope == splitName(plan.parameters[parameter].name).first || llvm::any_of(plan.uses, [&](const auto &use) {
               return use.second.parameter == (int)parameter && model.nodes[use.first.first].scope == scope;
             });
    });
  }

  std::string findSum(float number) {
    int64_t size = 0;
    std::vector<ValuedTensor> all, matrices;
    for (unsigned i : trained) {
      const ValuedTensor &each = values[plan.parameters[i].initializer];
      size += (int64_t)each.values.size();
      if (size > largestSum || each.values.empty())
        return "";
      if (isSumOver(number, each))
        return "'" + plan.parameters[i].name + "'";
      all.push_back(each);
      if (each.shape.size() > 1)
        matrices.push_back(each);
    }
    return isSumOver(number, all) || isSumOver(number, matrices) ? "all parameters" : "";
  }

  const Model &model;
  const ParameterPlan &plan;
  const xlc::Spec &spec;
  InitializerValues values;
  std::vector<unsigned> trained; ///< parameters whose values the file has
};

std::string FoldedConstants::findSource(const ParameterPlan::Constant &constant) {
  const ValuedTensor &of = values[constant.initializer];
  bool isNumber = of.values.size() == 1, isPlain = of.isUniform() && (!isNumber || isRegular(of));
  for (unsigned i : trained)
    if ((!isPlain || isBeside(constant, i)) && !areByChance(constant, i) &&
        isComputedFrom(of, values[plan.parameters[i].initializer]))
      return "'" + plan.parameters[i].name + "'";
  return isNumber && !isPlain ? findSum(of.values.front()) : "";
}

} // namespace

const ValuedTensor &InitializerValues::operator[](unsigned initializer) {
  auto found = values.find(initializer);
  if (found == values.end()) {
    const FileTensor &tensor = model.initializers[initializer];
    found = values.try_emplace(initializer, tensor.shape, readValues(tensor, largestTensor)).first;
  }
  return found->second;
}

bool xlc::onnx::isNamedAfterCall(StringRef name) {
  return !isMadeUp(name) && !isNamedAsConstant(name) && !name.contains('.') && !name.starts_with("c_") &&
         !name.starts_with("const_") && !name.ends_with("_cast");
}

std::string xlc::onnx::findFoldedSource(const Model &model, const ParameterPlan &plan, const xlc::Spec &spec,
                                        const ParameterPlan::Constant &constant) {
  return FoldedConstants(model, plan, spec).findSource(constant);
}

void xlc::onnx::refuseFoldedConstants(const Model &model, const ParameterPlan &plan, const xlc::Spec &spec,
                                      FileDiagnostics &diagnostics) {
  if (diagnostics.hasErrors()) // what lost a parameter explains its constants
    return;
  FoldedConstants(model, plan, spec).report(diagnostics);
}
