// See FoldedParameters.h.
#include "FoldedParameters.h"

#include "TensorValues.h"
#include "ValueRelations.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace xlc::onnx;

const FileTensor *FoldedParameters::find(StringRef name) const {
  StringRef home = splitName(name).first;
  for (StringRef scope = home;; scope = splitName(scope).first) {
    for (const ParameterPlan::Constant &constant : plan.constants) {
      const FileTensor &tensor = model.initializers[constant.initializer];
      bool mayStand = isMadeUp(tensor.name) ? scope == home && tensor.numElements() > 1 : !isMadeOfNothing(tensor.name);
      if (mayStand && llvm::any_of(constant.nodes, [&](unsigned node) { return model.nodes[node].scope == scope; }))
        return &tensor;
    }
    if (scope.empty())
      return nullptr;
  }
}

/// Whether the constant of this name was made of no parameter: by its name, or since it is a mask,
/// or the sine or cosine of positions.
bool FoldedParameters::isMadeOfNothing(StringRef constant) const {
  if (isNamedAsConstant(constant))
    return true;
  auto found = llvm::find_if(model.initializers, [&](const FileTensor &tensor) { return tensor.name == constant; });
  if (found == model.initializers.end())
    return false;
  ValuedTensor tensor(found->shape, readValues(*found, int64_t(1) << 22));
  StringRef kind = kindOfValue(constant);
  return isMask(tensor) || ((kind == "sin" || kind == "cos") && isSinusoidTable(tensor));
}

bool FoldedParameters::isComplete() const {
  return names.traced.isPresent() &&
         llvm::all_of(names.traced.open(), [&](const auto &value) { return isMadeOfNothing(value.getKey()); });
}
