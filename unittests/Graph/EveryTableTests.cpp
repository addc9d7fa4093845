// Each op of the `graph` dialect in each table: where it has no row, this says which one is missing, or the op says by a
// trait or a formula why it needs none.
#include "Lower/KernelEmitter.h"
#include "mlir/IR/MLIRContext.h"
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Dialect/Graph/Stops.h"
#include "xlc/Differentiate/Gradients.h"
#include "xlc/Estimate/Cost.h"
#include "xlc/Factors/FactorRules.h"
#include "xlc/Interpret/Interpret.h"
#include "xlc/Precision/Precision.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;

namespace {

bool isElementwise(OperationName op) { return op.hasTrait<graph::Elementwise>(); }
bool hasFormula(OperationName op) { return graph::hasFormula(op.getStringRef()); }

bool isGone(OperationName op) { return graph::isGoneAfterDifferentiate(op.getStringRef()); }

struct Table {
  const char *file;
  bool (*hasRow)(OperationName op);
  bool (*needsNone)(OperationName op);
  const char *why; ///< what it must be to need none
};

const Table tables[] = {
    {"lib/Interpret/Ops/Table.cpp", [](OperationName op) { return interpret::hasInterpretation(op.getStringRef()); },
     hasFormula, "an op with a formula"},
    {"lib/Factors/FactorTable.cpp", [](OperationName op) { return shard::findFactorRow(op) != nullptr; }, isElementwise,
     "elementwise"},
    {"lib/Differentiate/GradientTable.cpp", [](OperationName op) { return findGradient(op.getStringRef()) != nullptr; },
     [](OperationName op) { return hasFormula(op) || graph::isMadeByBackward(op); },
     "an op with a formula, or one that only backward makes"},
    {"lib/Estimate/CostTable.cpp", hasCost, [](OperationName op) { return isElementwise(op) || isGone(op); },
     "elementwise, or gone after Differentiate"},
    {"lib/Precision/PrecisionTable.cpp", hasPrecisionRow,
     [](OperationName op) {
       return isElementwise(op) || op.hasTrait<graph::Movement>() || hasFormula(op) || isGone(op);
     },
     "elementwise, a movement or an op with a formula, or gone after Differentiate"},
    {"lib/Lower/ElementTable.cpp",
     [](OperationName op) { return lower::findElementRule(op.getStringRef()) != nullptr; },
     [](OperationName op) {
       bool isHeld = op.hasTrait<graph::Held>();
       return hasFormula(op) || op.hasTrait<graph::LibraryKernel>() || isGone(op) || isHeld;
     },
     "an op with a formula or a library's, a number that the program holds, or gone after Differentiate"},
};

TEST(EveryTable, HasARowForEachOpThatNeedsOne) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect>();
  auto ops = context.getRegisteredOperationsByDialect("graph");
  ASSERT_FALSE(ops.empty());
  for (RegisteredOperationName op : ops)
    for (const Table &table : tables)
      EXPECT_TRUE(table.hasRow(op) || table.needsNone(op))
          << op.getStringRef().str() << " needs a row in " << table.file << ": it is not " << table.why;
}

} // namespace
