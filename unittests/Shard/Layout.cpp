// From every layout to every other, for small shapes: the steps that are found, run on all ranks, end where they
// should.
#include "Samples.h"
#include "Shard/Emit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

namespace {

class LayoutPaths : public testing::TestWithParam<int64_t> {
protected:
  LayoutPaths() { context.loadDialect<func::FuncDialect, graph::GraphDialect, dist::DistDialect>(); }

  func::FuncOp build(ModuleOp module, RankedTensorType type, ArrayRef<Step> path) {
    OpBuilder builder(module.getBodyRegion());
    auto from = localType(type, path.front().from), to = localType(type, path.back().to);
    auto function =
        func::FuncOp::create(builder, builder.getUnknownLoc(), "path", builder.getFunctionType({from}, {to}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    Emitter emit(builder, function, GetParam());
    Value value = function.getArgument(0);
    for (const Step &step : path)
      value = emit.reshard(value, type, step);
    func::ReturnOp::create(builder, function.getLoc(), value);
    return function;
  }

  MLIRContext context;
};

TEST_P(LayoutPaths, EndWhereTheyShould) {
  int64_t tp = GetParam(), tried = 0;
  const std::vector<std::vector<int64_t>> shapes{{4}, {6, 2}, {3, 8}, {2, 4, 3}};
  for (ArrayRef<int64_t> shape : shapes) {
    auto type = RankedTensorType::get(shape, Float64Type::get(&context));
    Datum<Field> global = interpret::randomTensor<Field>(shape, "x", 7);
    for (const Layout &from : layoutsOf(shape, tp))
      for (const Layout &to : layoutsOf(shape, tp)) {
        auto path = findPath(shape, from, to, tp);
        if (!path || path->empty())
          continue;
        OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
        func::FuncOp function = build(*module, type, *path);
        std::vector<SmallVector<Datum<Field>>> arguments(tp), results;
        for (int64_t rank = 0; rank < tp; ++rank)
          arguments[rank].push_back(localOf(&context, global, from, tp, rank, "terms"));
        ASSERT_TRUE(succeeded(interpret::evaluateRanks<Field>(function, arguments, {}, results)));
        std::vector<Datum<Field>> ranks;
        for (auto &own : results)
          ranks.push_back(own[0]);
        EXPECT_TRUE(isLaidOut(&context, ranks, global, to, tp))
            << "dim " << from.dim << " outer " << from.outer << " parts " << from.parts << " partial " << from.isPartial
            << " to dim " << to.dim << " outer " << to.outer << " parts " << to.parts;
        ++tried;
      }
  }
  EXPECT_GT(tried, 40);
}

/// Only a sum becomes partial, and nothing else does.
TEST_P(LayoutPaths, NothingBecomesPartial) {
  EXPECT_FALSE(findPath({8}, Layout::replicated(), Layout::partial(), GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Ranks, LayoutPaths, testing::Values(2, 3, 4, 6, 8));

} // namespace
