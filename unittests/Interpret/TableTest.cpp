// Every op of the `graph` dialect has a row in the interpretation table, and no row is for nothing.
#include "mlir/IR/MLIRContext.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Interpret.h"
#include <gtest/gtest.h>
#include <set>

TEST(InterpretationTable, CoversTheDialect) {
  mlir::MLIRContext context;
  auto *dialect = context.getOrLoadDialect<xlc::graph::GraphDialect>();
  std::set<std::string> ops, rows;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperationsByDialect(dialect->getNamespace()))
    ops.insert(name.getStringRef().str());
  for (llvm::StringRef name : xlc::interpret::getInterpretedOps())
    rows.insert(name.str());
  EXPECT_EQ(ops, rows);
}
