// See LossScale.h.
#include "xlc/Dialect/Graph/LossScale.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::graph;

static constexpr StringLiteral kInitial = "initial", kWindow = "window", kHysteresis = "hysteresis", kMin = "min",
                               kDynamic = "dynamic";

DictionaryAttr LossScale::toAttribute(MLIRContext *context) const {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr(kInitial, b.getF64FloatAttr(initial)), b.getNamedAttr(kWindow, b.getI64IntegerAttr(window)),
       b.getNamedAttr(kHysteresis, b.getI64IntegerAttr(hysteresis)), b.getNamedAttr(kMin, b.getF64FloatAttr(min)),
       b.getNamedAttr(kDynamic, b.getBoolAttr(isDynamic))});
}

LogicalResult LossScale::verify(function_ref<InFlightDiagnostic()> emitError, Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  if (entries && entries.getAs<FloatAttr>(kInitial) && entries.getAs<IntegerAttr>(kWindow) &&
      entries.getAs<IntegerAttr>(kHysteresis) && entries.getAs<FloatAttr>(kMin) && entries.getAs<BoolAttr>(kDynamic))
    return success();
  return emitError() << kLossScale << " must have " << kInitial << " and " << kMin << " (f64), " << kWindow << " and "
                     << kHysteresis << " (i64), and " << kDynamic << " (bool)";
}

std::optional<LossScale> LossScale::of(ModuleOp module) {
  auto entries = module->getAttrOfType<DictionaryAttr>(kLossScale);
  if (!entries)
    return std::nullopt;
  return LossScale{entries.getAs<FloatAttr>(kInitial).getValueAsDouble(), entries.getAs<IntegerAttr>(kWindow).getInt(),
                   entries.getAs<IntegerAttr>(kHysteresis).getInt(), entries.getAs<FloatAttr>(kMin).getValueAsDouble(),
                   entries.getAs<BoolAttr>(kDynamic).getValue()};
}
