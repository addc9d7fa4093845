// `model.half()` and `model.double()` export parameters in that type, and every value computed from them. xlc trains in
// float32: the parameters begin with the same values (rounded, from float64), and the casts around them become casts to
// float32. This rounding differs from PyTorch's, so it is reported, once for a file.
//
// A file of float32 parameters may still compute something in float64; that stays.
#include "NarrowTypes.h"

#include "ConstantTensor.h"
#include "ElementTypes.h"
#include <map>
#include <set>

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr int64_t floatType = (int64_t)ElementType::Float, doubleType = (int64_t)ElementType::Double;

/// "12 parameters are stored as float16 and 2 as double"; empty where all are float.
std::string describeStored(const Model &model, const ParameterPlan &plan) {
  std::map<int, int64_t> counts;
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    if (plan.isParameter[i] && tensor.storedType != floatType && isFloat(tensor.type))
      ++counts[tensor.storedType];
  std::string text;
  for (auto [type, count] : counts)
    text += (text.empty() ? "" : " and ") + std::to_string(count) +
            (!text.empty() ? ""
             : count == 1  ? " parameter is stored"
                           : " parameters are stored") +
            " as " + nameOfType(type);
  return text;
}

/// Whether a node says by an attribute that its result has a type that goes; then it is float32.
bool narrowResult(Node &node, bool isDoubleGone) {
  for (StringRef name : {"to", "dtype"}) {
    auto attribute = node.attributes.find(name);
    if (attribute == node.attributes.end() || attribute->second.kind != Attribute::Kind::Int)
      continue;
    int64_t &type = attribute->second.i;
    if (isHalf((int)type) || (isDoubleGone && type == doubleType))
      return type = floatType, true;
  }
  return false;
}

} // namespace

void xlc::onnx::narrowTypes(Model &model, const ParameterPlan &plan, FileDiagnostics &diagnostics) {
  compareTypes(model);
  std::string stored = describeStored(model, plan);
  bool isDoubleGone = false;
  for (auto [i, tensor] : llvm::enumerate(model.initializers))
    isDoubleGone |= plan.isParameter[i] && tensor.storedType == doubleType;
  int64_t casts = 0;
  for (Node &node : model.nodes) {
    casts += narrowResult(node, isDoubleGone);
    if (auto value = node.attributes.find("value"); isDoubleGone && value != node.attributes.end())
      if (FileTensor *tensor = value->second.tensor.get())
        tensor->narrow();
  }
  for (FileTensor &tensor : model.initializers)
    if (isDoubleGone)
      tensor.narrow();
  for (ModelInput &input : model.inputs)
    if (isDoubleGone && input.type == ElementType::Double)
      input.type = ElementType::Float;
  if (!stored.empty())
    diagnostics.warning(stored +
                        ": they are trained in float32, and the model's computations in the stored type use float32");
  else if (casts)
    diagnostics.warning(Twine(casts) + (casts == 1 ? " node produces" : " nodes produce") +
                        " 16-bit values, which are computed in float32 without rounding");
}
