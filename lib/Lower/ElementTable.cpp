// The lowering table: one row per op that can occur in a generated kernel. Ops with a kernel of their own are library
// calls; other named ops are expanded into these (ExpandNamedOps.cpp).
#include "ElementRules.h"

using namespace xlc::lower;

namespace {
struct Row {
  llvm::StringLiteral op;
  ElementRule rule;
  bool isRoutine = false; ///< see Lower's isRoutine
};
constexpr Row table[] = {
    {"graph.neg", negElement},
    {"graph.abs", absElement},
    {"graph.sign", signElement},
    {"graph.exp", expElement, /*isRoutine=*/true},
    {"graph.log", logElement, /*isRoutine=*/true},
    {"graph.sqrt", sqrtElement},
    {"graph.tanh", tanhElement, /*isRoutine=*/true},
    {"graph.erf", erfElement, /*isRoutine=*/true},
    {"graph.sin", sinElement, /*isRoutine=*/true},
    {"graph.cos", cosElement, /*isRoutine=*/true},
    {"graph.atan", atanElement},
    {"graph.floor", floorElement},
    {"graph.not", notElement},
    {"graph.is_nan", isNanElement},
    {"graph.cast", castElement},
    {"graph.stochastic_cast", stochasticCastElement},
    {"graph.add", addElement},
    {"graph.sub", subElement},
    {"graph.mul", mulElement},
    {"graph.div", divElement},
    {"graph.max", maxElement},
    {"graph.min", minElement},
    {"graph.pow", powElement, /*isRoutine=*/true},
    {"graph.and", andElement},
    {"graph.or", orElement},
    {"graph.compare", compareElement},
    {"graph.select", selectElement},
    {"graph.constant", constantElement},
    {"graph.iota", iotaElement},
    {"graph.random_bits", randomBitsElement},
    {"graph.broadcast", broadcastElement},
    {"graph.reshape", reshapeElement},
    {"graph.transpose", transposeElement},
    {"graph.slice", sliceElement},
    {"graph.concat", concatElement},
    {"graph.pad", padElement},
    {"graph.reduce", reduceElement},
    {"graph.gather", gatherElement},
    {"graph.gather_elements", gatherElementsElement},
};
} // namespace

static const Row *findRow(llvm::StringRef opName) {
  const Row *row = llvm::find_if(table, [&](const Row &candidate) { return candidate.op == opName; });
  return row == std::end(table) ? nullptr : row;
}

ElementRule xlc::lower::findElementRule(llvm::StringRef opName) {
  const Row *row = findRow(opName);
  return row ? row->rule : nullptr;
}

bool xlc::lower::isRoutine(llvm::StringRef opName) {
  const Row *row = findRow(opName);
  return row && row->isRoutine;
}

llvm::SmallVector<llvm::StringRef> xlc::lower::getEmittableOps() {
  return llvm::map_to_vector(table, [](const Row &row) { return llvm::StringRef(row.op); });
}
