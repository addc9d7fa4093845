// An op's formula and its own rule are two writings of one value: the path of ops without a rule, run on ops with one.
#include "Interpret/Ops/ByFormula.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using namespace xlc::interpret;

TEST(Formula, GivesWhatTheRuleGives) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, graph::GraphDialect>();
  for (const char *text :
       {"%y = graph.silu %0 : tensor<3x5xf64>", "%y = graph.gelu erf %0 : tensor<3x5xf64>",
        "%y = graph.silu_backward %0, %0 : tensor<3x5xf64>", "%y = graph.softmax %0 : tensor<3x5xf64>"}) {
    auto module = parseSourceString<ModuleOp>(
        "func.func @f(%0: tensor<3x5xf64>) {\n" + std::string(text) + "\nreturn\n}", &context);
    ASSERT_TRUE(module);
    Operation *op = &(*module->getOps<func::FuncOp>().begin()).front().front();
    Datum<double> x = randomTensor<double>({3, 5}, "x", 1);
    SmallVector<const Datum<double> *> operands(op->getNumOperands(), &x);
    Functions<double> functions(0);
    SmallVector<Datum<double>> byRule, byFormula;
    Evaluation<double> first{op, operands, functions, byRule}, second{op, operands, functions, byFormula};
    ASSERT_TRUE(succeeded(findRule<double>(op->getName().getStringRef())(first)));
    ASSERT_TRUE(succeeded(evaluateByFormula(second)));
    const auto &expected = std::get<Tensor<double>>(byRule[0]).elements,
               &found = std::get<Tensor<double>>(byFormula[0]).elements;
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-12) << text;
  }
}
