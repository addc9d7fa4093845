// Every row of the factor table, executed: an op is split every way that its rule allows, run on all ranks, and what
// they hold is compared with what the rule says they hold of the whole result. And every set in which it says that the
// op is linear is given terms of a sum.
#include "Samples.h"
#include "Shard/LocalOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "xlc/Dialect/Graph/InputAttributes.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace xlc;
using namespace xlc::shard;

namespace {

/// Not split: windows, the optimizer and how it rounds, a number that the program holds, and what needs the forward op
/// beside it (verified with whole models).
const std::set<std::string> notSampled = {
    "graph.convolution",    "graph.convolution_transpose",  "graph.convolution_weight_backward",
    "graph.max_pool",       "graph.max_pool_backward",      "graph.sum_squares",
    "graph.optimizer_step", "graph.cross_entropy_backward", "graph.loss_scale",
    "graph.random_bits",    "graph.stochastic_cast"};

using Values = SmallVector<Datum<Field>>;

class FactorTable : public testing::Test {
protected:
  FactorTable() { context.loadDialect<func::FuncDialect, graph::GraphDialect, dist::DistDialect>(); }

  static Values evaluate(func::FuncOp function, const Values &arguments) {
    Values results;
    EXPECT_TRUE(succeeded(interpret::evaluate<Field>(function, arguments, {}, results)));
    return results;
  }

  static Values randomArguments(func::FuncOp function) {
    Values arguments;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto tensor = cast<RankedTensorType>(type);
      std::string key = "argument " + std::to_string(i);
      auto limit = function.getArgAttrOfType<IntegerAttr>(i, graph::kLimit);
      if (tensor.getElementType().isInteger())
        arguments.push_back(interpret::randomIntegers(tensor.getShape(), key, 5, limit ? limit.getInt() : 2));
      else
        arguments.push_back(interpret::randomTensor<Field>(tensor.getShape(), key, 5));
    }
    return arguments;
  }

  /// @local: the op on operands that lie as `spread` says.
  func::FuncOp writeLocal(ModuleOp module, Operation *op, const Spread &spread, int64_t tp) {
    OpBuilder builder(module.getBodyRegion());
    SmallVector<Type> types;
    for (auto [operand, layout] : llvm::zip(op->getOperands(), spread.operands))
      types.push_back(localType(operand.getType(), layout));
    auto function = func::FuncOp::create(builder, op->getLoc(), "local", builder.getFunctionType(types, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    SmallVector<Value> results =
        LocalOps(builder, tp).write(op, SmallVector<Value>(function.getArguments()), spread, op);
    func::ReturnOp::create(builder, op->getLoc(), results);
    function.setFunctionType(builder.getFunctionType(types, ValueRange(results).getTypes()));
    return function;
  }

  /// Runs the op in pieces and compares.
  void check(ModuleOp module, Operation *op, const Spread &spread, int64_t tp, const Values &operands,
             const Values &results) {
    func::FuncOp local = writeLocal(module, op, spread, tp);
    std::vector<SmallVector<Datum<Field>>> arguments(tp), found;
    for (int64_t rank = 0; rank < tp; ++rank)
      for (auto [i, operand, layout] : llvm::enumerate(operands, spread.operands))
        arguments[rank].push_back(localOf(&context, operand, layout, tp, rank, std::to_string(i)));
    ASSERT_TRUE(succeeded(interpret::evaluateRanks<Field>(local, arguments, {}, found)));
    for (auto [i, whole, layout] : llvm::enumerate(results, spread.results)) {
      std::vector<Datum<Field>> ranks;
      for (auto &own : found)
        ranks.push_back(own[i]);
      std::string text;
      llvm::raw_string_ostream(text) << *op << "\n" << local;
      EXPECT_TRUE(isLaidOut(&context, ranks, whole, layout, tp)) << text << "result " << i;
    }
    local.erase();
  }

  MLIRContext context;
};

/// Whether blocks are full, or the op is one that masks the tail of what it indexes.
bool isTried(Operation *op, const Spread &spread, int64_t tp) {
  bool masks = isa<graph::GatherOp, graph::ScatterAddOp, graph::CrossEntropyOp>(op);
  auto even = [](auto pair) {
    return isEven(cast<RankedTensorType>(std::get<0>(pair).getType()).getShape(), std::get<1>(pair));
  };
  bool isEvenly = llvm::all_of(llvm::zip(op->getOperands(), spread.operands), even) &&
                  llvm::all_of(llvm::zip(op->getResults(), spread.results), even);
  bool isWholeSum = !spread.isSum || llvm::all_of(spread.operands, [&](const Layout &layout) {
    return !layout.isSplit() || layout.parts == tp;
  });
  return isWholeSum && (isEvenly || masks);
}

TEST_F(FactorTable, SplitsAreRight) {
  std::set<std::string> split;
  for (const std::string &sample : getSamples()) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(sample, &context);
    ASSERT_TRUE(module) << sample;
    auto function = module->lookupSymbol<func::FuncOp>("op"), prepare = module->lookupSymbol<func::FuncOp>("prepare");
    Values operands = prepare ? evaluate(prepare, randomArguments(prepare)) : randomArguments(function);
    Values results = evaluate(function, operands);
    Operation *op = &function.front().front();
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    for (int64_t tp : {2, 4})
      for (auto [number, value] : llvm::enumerate(values))
        for (const Layout &layout : layoutsOf(cast<RankedTensorType>(value.getType()).getShape(), tp)) {
          std::optional<Spread> found;
          if (layout.isSplit() && !layout.isPartial)
            found = spread(op, {unsigned(number), layout, tp});
          if (!found || !isTried(op, *found, tp))
            continue;
          check(*module, op, *found, tp, operands, results);
          split.insert(op->getName().getStringRef().str());
        }
  }
  for (RegisteredOperationName op : context.getRegisteredOperationsByDialect("graph")) {
    std::string name = op.getStringRef().str();
    EXPECT_EQ(split.count(name), size_t(!notSampled.count(name))) << name;
  }
}

TEST_F(FactorTable, SumsGoThroughWhatIsLinear) {
  for (const std::string &sample : getSamples()) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(sample, &context);
    auto function = module->lookupSymbol<func::FuncOp>("op"), prepare = module->lookupSymbol<func::FuncOp>("prepare");
    Values operands = prepare ? evaluate(prepare, randomArguments(prepare)) : randomArguments(function);
    Values results = evaluate(function, operands);
    Operation *op = &function.front().front();
    for (uint32_t set : getLinearSets(op)) {
      Spread terms;
      for (unsigned number = 0; number < op->getNumOperands(); ++number)
        terms.operands.push_back(set >> number & 1 ? Layout::partial() : Layout());
      terms.results.assign(op->getNumResults(), Layout::partial());
      check(*module, op, terms, 3, operands, results);
    }
  }
}

} // namespace
