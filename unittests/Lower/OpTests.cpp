// Every row of the lowering table, run on numbers: shapes with a remainder, against the op's definition in double.
#include "../../lib/Lower/KernelEmitter.h"
#include "CompiledKernel.h"
#include "xlc/Runtime/Narrow.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace xlc;
using namespace xlc::test;

namespace {

constexpr int64_t rows = 3, width = 37; // 37 = 2 vectors of 16 and a rest; also less than one of 64

struct Sample {
  std::string op;
  KernelText text;
  /// Value of result element i, the row-major index, from the operands.
  std::function<double(const Tensors &, int64_t)> expected;
};

Operand f32(std::vector<int64_t> shape) { return {"f32", std::move(shape)}; }

/// y = op(x), y = op(a, b) on [3, 37].
Sample unary(std::string op, double (*f)(double)) {
  return {"graph." + op,
          {"loop", {f32({rows, width})}, {f32({rows, width})}, "%y = graph." + op + " %0 : tensor<3x37xf32> => %y"},
          [f](const Tensors &x, int64_t i) { return f(x[0].values[i]); }};
}
Sample binary(std::string op, double (*f)(double, double), std::string element = "f32") {
  Operand operand{element, {rows, width}};
  return {"graph." + op,
          {"loop", {operand, operand}, {operand}, "%y = graph." + op + " %0, %1 : tensor<3x37x" + element + "> => %y"},
          [f](const Tensors &x, int64_t i) { return f(x[0].values[i], x[1].values[i]); }};
}

std::vector<Sample> arithmeticSamples() {
  Operand x = f32({rows, width}), flag{"i1", {rows, width}};
  return {
      unary("neg", [](double x) { return -x; }),
      unary("abs", [](double x) { return std::fabs(x); }),
      unary("sign", [](double x) { return double((x > 0) - (x < 0)); }),
      unary("exp", [](double x) { return std::exp(x); }),
      unary("log", [](double x) { return std::log(x); }),
      unary("sqrt", [](double x) { return std::sqrt(x); }),
      unary("tanh", [](double x) { return std::tanh(x); }),
      unary("erf", [](double x) { return std::erf(x); }),
      unary("sin", [](double x) { return std::sin(x); }),
      unary("cos", [](double x) { return std::cos(x); }),
      unary("atan", [](double x) { return std::atan(x); }),
      unary("floor", [](double x) { return std::floor(x); }),
      binary("add", [](double a, double b) { return a + b; }),
      binary("sub", [](double a, double b) { return a - b; }),
      binary("mul", [](double a, double b) { return a * b; }),
      binary("div", [](double a, double b) { return a / b; }),
      binary("max", [](double a, double b) { return std::max(a, b); }),
      binary("min", [](double a, double b) { return std::min(a, b); }),
      binary("pow", [](double a, double b) { return std::pow(a, b); }),
      binary(
          "and", [](double a, double b) { return double(a && b); }, "i1"),
      binary(
          "or", [](double a, double b) { return double(a || b); }, "i1"),
      {"graph.not",
       {"loop", {flag}, {flag}, "%y = graph.not %0 : tensor<3x37xi1> => %y"},
       [](const Tensors &x, int64_t i) { return double(!x[0].values[i]); }},
      {"graph.is_nan",
       {"loop",
        {x},
        {flag},
        "%q = graph.log %0 : tensor<3x37xf32>\n%y = graph.is_nan %q : tensor<3x37xf32> -> tensor<3x37xi1> => %y"},
       [](const Tensors &x, int64_t i) { return double(x[0].values[i] < 0); }},
      {"graph.cast",
       {"loop", {x}, {{"i64", {rows, width}}}, "%y = graph.cast %0 : tensor<3x37xf32> -> tensor<3x37xi64> => %y"},
       [](const Tensors &x, int64_t i) { return std::trunc(x[0].values[i]); }},
      {"graph.stochastic_cast",
       {"loop",
        {x, {"i32", {rows, width}}},
        {x},
        "%n = graph.stochastic_cast %0, %1 draw 1 : (tensor<3x37xf32>, tensor<3x37xi32>) -> tensor<3x37xbf16>\n"
        "%y = graph.cast %n : tensor<3x37xbf16> -> tensor<3x37xf32> => %y"},
       [](const Tensors &x, int64_t i) {
         auto bits = (uint32_t)(int64_t)x[1].values[i];
         return runtime::toBf16Neighbour((float)x[0].values[i], runtime::drawOf(bits, 1));
       }},
      {"graph.compare",
       {"loop", {x, x}, {flag}, "%y = graph.compare le %0, %1 : tensor<3x37xf32> -> tensor<3x37xi1> => %y"},
       [](const Tensors &x, int64_t i) { return double(x[0].values[i] <= x[1].values[i]); }},
      {"graph.select",
       {"loop", {flag, x, x}, {x}, "%y = graph.select %0, %1, %2 : tensor<3x37xi1>, tensor<3x37xf32> => %y"},
       [](const Tensors &x, int64_t i) { return x[0].values[i] ? x[1].values[i] : x[2].values[i]; }},
  };
}

std::vector<Sample> shapeSamples() {
  Operand x = f32({rows, width});
  return {
      {"graph.constant",
       {"loop",
        {x},
        {f32({2, 3})},
        "%y = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> => %y"},
       [](const Tensors &, int64_t i) { return i + 1.0; }},
      {"graph.iota",
       {"loop", {x}, {{"i32", {rows, width}}}, "%y = graph.iota dim 1 : tensor<3x37xi32> => %y"},
       [](const Tensors &, int64_t i) { return double(i % width); }},
      {"graph.broadcast",
       {"loop",
        {f32({rows, 1})},
        {f32({2, rows, width})},
        "%y = graph.broadcast %0 : tensor<3x1xf32> -> tensor<2x3x37xf32> => %y"},
       [](const Tensors &x, int64_t i) { return x[0].values[i / width % rows]; }},
      {"graph.reshape",
       {"loop",
        {x, f32({width, rows})},
        {f32({width, rows})},
        "%r = graph.reshape %0 : tensor<3x37xf32> -> tensor<37x3xf32>\n"
        "%y = graph.transpose %r [0, 1] : tensor<37x3xf32> -> tensor<37x3xf32> => %y"},
       [](const Tensors &x, int64_t i) { return x[0].values[i]; }},
      {"graph.transpose",
       {"loop",
        {x},
        {f32({width, rows})},
        "%y = graph.transpose %0 [1, 0] : tensor<3x37xf32> -> tensor<37x3xf32> => %y"},
       [](const Tensors &x, int64_t i) { return x[0].values[i % rows * width + i / rows]; }},
  };
}

std::vector<Sample> selectionSamples() {
  Operand x = f32({rows, width});
  return {
      {"graph.slice",
       {"loop",
        {x},
        {f32({2, 18})},
        "%y = graph.slice %0 from [2, 36] by [-1, -2] : tensor<3x37xf32> -> tensor<2x18xf32> => %y"},
       [](const Tensors &x, int64_t i) { return x[0].values[(2 - i / 18) * width + 36 - 2 * (i % 18)]; }},
      {"graph.concat",
       {"loop",
        {x, f32({rows, 5})},
        {f32({rows, 42})},
        "%y = graph.concat %0, %1 dim 1 : (tensor<3x37xf32>, tensor<3x5xf32>) -> tensor<3x42xf32> => %y"},
       [](const Tensors &x, int64_t i) {
         int64_t r = i / 42, c = i % 42;
         return c < width ? x[0].values[r * width + c] : x[1].values[r * 5 + c - width];
       }},
      {"graph.pad",
       {"loop",
        {x, f32({})},
        {f32({5, 40})},
        "%y = graph.pad %0, %1 low [1, 2] high [1, 1] : (tensor<3x37xf32>, tensor<f32>) -> tensor<5x40xf32> => %y"},
       [](const Tensors &x, int64_t i) {
         int64_t r = i / 40 - 1, c = i % 40 - 2;
         return r >= 0 && r < rows && c >= 0 && c < width ? x[0].values[r * width + c] : x[1].values[0];
       }},
      {"graph.gather",
       {"loop",
        {x, {"i64", {4}}},
        {f32({4, width})},
        "%a = graph.abs %1 : tensor<4xi64>\n"
        "%y = graph.gather %0, %a dim 0 : (tensor<3x37xf32>, tensor<4xi64>) -> tensor<4x37xf32> => %y"},
       [](const Tensors &x, int64_t i) {
         return x[0].values[(int64_t)std::fabs(x[1].values[i / width]) * width + i % width];
       }},
      {"graph.gather_elements",
       {"loop",
        {x, {"i64", {2, width}}},
        {f32({2, width})},
        "%a = graph.abs %1 : tensor<2x37xi64>\n"
        "%y = graph.gather_elements %0, %a dim 0 : (tensor<3x37xf32>, tensor<2x37xi64>) -> tensor<2x37xf32> => %y"},
       [](const Tensors &x, int64_t i) { return x[0].values[(int64_t)std::fabs(x[1].values[i]) * width + i % width]; }},
      {"graph.reduce",
       {"rows", {x}, {f32({rows})}, "%y = graph.reduce max %0 dims [1] : tensor<3x37xf32> -> tensor<3xf32> => %y"},
       [](const Tensors &x, int64_t i) {
         return *std::max_element(x[0].values.begin() + i * width, x[0].values.begin() + (i + 1) * width);
       }},
  };
}

std::vector<Sample> samples() {
  std::vector<Sample> all = arithmeticSamples();
  for (const std::vector<Sample> &more : {shapeSamples(), selectionSamples()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

class Rows : public testing::TestWithParam<int64_t> {};

TEST_P(Rows, ComputeTheirDefinition) {
  std::vector<Sample> all = samples();
  for (llvm::StringRef op : xlc::lower::getEmittableOps()) {
    if (op == graph::RandomBitsOp::getOperationName()) // bit by bit: RandomTests.cpp
      continue;
    auto sample = std::find_if(all.begin(), all.end(), [&](const Sample &s) { return s.op == op; });
    ASSERT_NE(sample, all.end()) << op.str() << " has a row in the lowering table and no sample here";
    CompiledKernel kernel(sample->text, GetParam());
    Tensors inputs = makeInputs(sample->text);
    Tensor y = kernel.run(inputs).front();
    for (int64_t i = 0; i < y.size(); ++i) {
      double expected = sample->expected(inputs, i);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(y.values[i])) << op.str() << " element " << i;
      else
        EXPECT_NEAR(y.values[i], expected, 4 * 1.2e-7 * std::fabs(expected) + 1e-30) << op.str() << " element " << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(OfTheTable, Rows, testing::Values(64, 32, 16));

} // namespace
