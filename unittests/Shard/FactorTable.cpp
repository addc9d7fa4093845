// Every row of the factor table, executed on samples, for every factor that it states and every set of operands in which
// it says that the op is linear. PlantedFactors.cpp shows that the net finds what is wrong.
//
//     build/bin/ShardTests --gtest_filter='FactorTable.*'
#include "FactorNet.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

namespace {

class FactorTable : public testing::Test {
protected:
  FactorTable() { context.loadDialect<graph::GraphDialect>(); }

  const FactorRow &rowOf(const std::string &op) {
    const FactorRow *row = findFactorRow(OperationName(op, &context));
    EXPECT_TRUE(row) << op;
    return *row;
  }

  MLIRContext context;
  FactorNet net;
};

TEST_F(FactorTable, EveryOpHasSamples) {
  std::vector<std::string> sampled = net.getOps();
  for (RegisteredOperationName op : context.getRegisteredOperationsByDialect("graph"))
    EXPECT_TRUE(llvm::is_contained(sampled, op.getStringRef().str())) << op.getStringRef().str();
}

TEST_F(FactorTable, EveryClaimIsRight) {
  for (const std::string &op : net.getOps())
    EXPECT_EQ(net.findWrong(op, Claims::of(rowOf(op))), "") << op;
}

} // namespace
