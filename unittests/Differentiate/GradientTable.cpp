// Every rule of the gradient table against central differences in double precision.
//
// For a function f of arguments x and random weights r, the loss is sum(r f(x)). Along a random
// direction d its slope is (loss(x + h d) - loss(x - h d)) / 2h, and must equal the sum of
// d times the gradients that Differentiate computes. A rule without a sample fails.
#include "Samples.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "xlc/Dialect/Graph/NamedOps.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Differentiate/Gradients.h"
#include "xlc/Interpret/Interpret.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace xlc;
using interpret::Datum;

namespace {

class GradientTable : public testing::Test {
protected:
  GradientTable() { context.loadDialect<func::FuncDialect, graph::GraphDialect>(); }
  MLIRContext context;
};

/// @forward(arguments, weights) -> (sum of weights times %y, 1).
std::string makeModule(const GradientSample &sample) {
  std::string text = "module attributes {graph.nominal_count = 1 : i64} {\nfunc.func @forward(";
  for (auto [i, type] : llvm::enumerate(sample.arguments))
    text += "%" + std::to_string(i) + ": " + type + " {graph.param = \"" + std::to_string(i) + "\"}, ";
  int64_t rank = llvm::count(sample.result, 'x');
  std::string dims;
  for (int64_t i = 0; i < rank; ++i)
    dims += (i ? ", " : "") + std::to_string(i);
  text += "%r: " + sample.result + ") -> (tensor<f64>, tensor<i64>) {\n" + sample.body +
          "\n%product = graph.mul %y, %r : " + sample.result + "\n%loss = graph.reduce sum %product dims [" + dims +
          "] : " + sample.result + " -> tensor<f64>\n" +
          "%one = graph.constant dense<1> : tensor<i64>\nreturn %loss, %one : tensor<f64>, tensor<i64>\n}\n}\n";
  return text;
}

using Arguments = SmallVector<Datum<double>>;
using Reals = interpret::Tensor<double>;

Arguments makeArguments(func::FuncOp function, const std::string &key, double low, double high) {
  Arguments arguments;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    Reals x = interpret::randomTensor<double>(cast<RankedTensorType>(type).getShape(), key + std::to_string(i), 1);
    for (double &element : x.elements)
      element = low + (element + 1) / 2 * (high - low);
    arguments.push_back(x);
  }
  return arguments;
}

Arguments evaluate(func::FuncOp function, const Arguments &arguments) {
  Arguments results;
  EXPECT_TRUE(succeeded(interpret::evaluate<double>(function, arguments, {}, results)));
  return results;
}

double lossAt(func::FuncOp forward, Arguments arguments, const Arguments &direction, double step) {
  for (size_t i = 0; i + 1 < arguments.size(); ++i) // the last one is the weights
    for (size_t k = 0; k < std::get<Reals>(arguments[i]).elements.size(); ++k)
      std::get<Reals>(arguments[i]).elements[k] += step * std::get<Reals>(direction[i]).elements[k];
  return std::get<Reals>(evaluate(forward, arguments)[0]).elements[0];
}

/// Sum over all gradients of direction times gradient.
double slopeByRule(func::FuncOp microBatch, const Arguments &arguments, const Arguments &direction) {
  Arguments results = evaluate(microBatch, arguments);
  double slope = 0;
  for (unsigned i = 2; i < results.size(); ++i) {
    unsigned argument;
    EXPECT_FALSE(microBatch.getResultAttrOfType<StringAttr>(i, graph::kGrad).getValue().getAsInteger(10, argument));
    for (auto [d, g] :
         llvm::zip_equal(std::get<Reals>(direction[argument]).elements, std::get<Reals>(results[i]).elements))
      slope += d * g;
  }
  return slope;
}

/// The gradients that Differentiate gives of the sample against central differences.
void check(MLIRContext &context, const GradientSample &sample) {
  SCOPED_TRACE(sample.op + "\n" + sample.body);
  OwningOpRef<ModuleOp> forward = parseSourceString<ModuleOp>(makeModule(sample), &context);
  ASSERT_TRUE(forward);
  OwningOpRef<ModuleOp> differentiated = forward->clone();
  PassManager passes(&context);
  passes.addPass(createDifferentiatePass());
  ASSERT_TRUE(succeeded(passes.run(*differentiated)));

  auto function = forward->lookupSymbol<func::FuncOp>("forward");
  Arguments arguments = makeArguments(function, "x", sample.low, sample.high);
  for (int trial = 0; trial < 3; ++trial) {
    Arguments direction = makeArguments(function, "d" + std::to_string(trial), -1, 1);
    constexpr double h = 1e-5;
    double measured =
        (lossAt(function, arguments, direction, h) - lossAt(function, arguments, direction, -h)) / (2 * h);
    double claimed = slopeByRule(differentiated->lookupSymbol<func::FuncOp>("micro_batch"), arguments, direction);
    EXPECT_NEAR(claimed, measured, 1e-7 * std::max(1.0, std::abs(measured)));
  }
}

TEST_F(GradientTable, RulesAgreeWithCentralDifferences) {
  for (const GradientSample &sample : getGradientSamples())
    check(context, sample);
}

/// An op that has no rule is differentiated through its formula: here the derivative of a derivative.
TEST_F(GradientTable, AFormulaAgreesWithCentralDifferences) {
  const std::string type = "tensor<2x3xf64>";
  ASSERT_EQ(findGradient("graph.silu_backward"), nullptr);
  check(context, {"graph.silu_backward", {type, type}, "%y = graph.silu_backward %0, %1 : " + type, type, -3, 3});
}

TEST_F(GradientTable, EveryGradientHasASample) {
  for (RegisteredOperationName op : context.getRegisteredOperationsByDialect("graph")) {
    StringRef name = op.getStringRef();
    bool hasSample = llvm::any_of(getGradientSamples(), [&](const GradientSample &s) { return s.op == name; });
    const GradientRow *row = findGradient(name);
    bool hasRule = row ? row->rule != nullptr : graph::hasFormula(name) && !graph::isMadeByBackward(op);
    EXPECT_EQ(hasSample, hasRule) << name.str();
  }
}

} // namespace
