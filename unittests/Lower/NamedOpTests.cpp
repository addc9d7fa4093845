// Named ops in their kernels, against their definition in double; and what must not matter: strides, sharing of memory,
// how rows are cut, what is in the result before.
#include "CompiledKernel.h"
#include "SimulatedKernel.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace xlc::test;

namespace {

Operand f32(std::vector<int64_t> shape, std::vector<int64_t> strides = {}) {
  return {"f32", std::move(shape), std::move(strides)};
}

void expectNear(const Tensor &actual, const std::vector<double> &expected, double tolerance) {
  ASSERT_EQ(actual.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual.values[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << "element " << i;
}

constexpr int64_t rows = 5, width = 77;

struct Normalized {
  std::vector<double> y, mean, rstd;
};
Normalized layerNorm(const Tensor &x, const Tensor &weight, const Tensor &bias) {
  Normalized n;
  for (int64_t r = 0; r < rows; ++r) {
    const double *row = &x.values[r * width];
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < width; ++i)
      mean += row[i] / width;
    for (int64_t i = 0; i < width; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / width;
    n.mean.push_back(mean), n.rstd.push_back(1 / std::sqrt(variance + 1e-5));
    for (int64_t i = 0; i < width; ++i)
      n.y.push_back((row[i] - mean) * n.rstd.back() * weight.values[i] + bias.values[i]);
  }
  return n;
}

KernelText layerNormText(std::vector<int64_t> strides = {}) {
  return {"rows",
          {f32({rows, width}, strides), f32({width}), f32({width})},
          {f32({rows, width}, strides), f32({rows}), f32({rows})},
          "%y, %m, %r = graph.layer_norm %0, %1, %2 {epsilon = 1.0e-05 : f64} : (tensor<5x77xf32>, tensor<77xf32>, "
          "tensor<77xf32>) -> (tensor<5x77xf32>, tensor<5xf32>, tensor<5xf32>) => %y, %m, %r"};
}

TEST(LayerNorm, HonoursStrides) {
  Tensors ins{randomTensor({rows, width}, 1), randomTensor({width}, 2), randomTensor({width}, 3)};
  Normalized n = layerNorm(ins[0], ins[1], ins[2]);
  for (std::vector<int64_t> strides : {std::vector<int64_t>{}, {100, 1}, {400, 3}}) {
    Tensors outs = CompiledKernel(layerNormText(strides)).run(ins);
    expectNear(outs[0], n.y, 2e-6);
    expectNear(outs[1], n.mean, 2e-6);
    expectNear(outs[2], n.rstd, 2e-6);
  }
}

TEST(LayerNorm, MayOverwriteItsInput) {
  Tensors ins{randomTensor({rows, width}, 1), randomTensor({width}, 2), randomTensor({width}, 3)};
  CompiledKernel kernel(layerNormText());
  std::vector<float> x(ins[0].values.begin(), ins[0].values.end()), w(ins[1].values.begin(), ins[1].values.end()),
      b(ins[2].values.begin(), ins[2].values.end()), mean(rows), rstd(rows);
  kernel.call({(char *)x.data(), (char *)w.data(), (char *)b.data(), (char *)x.data(), (char *)mean.data(),
               (char *)rstd.data()},
              0, rows);
  expectNear({{rows, width}, {x.begin(), x.end()}}, kernel.run(ins)[0].values, 0);
}

TEST(LayerNorm, BackwardAgreesWithDifferences) {
  Tensors ins{randomTensor({rows, width}, 1), randomTensor({width}, 2)};
  Tensor bias{{width}, std::vector<double>(width, 0)}, dy = randomTensor({rows, width}, 4);
  Normalized n = layerNorm(ins[0], ins[1], bias);
  KernelText text{
      "rows",
      {f32({rows, width}), f32({width}), f32({rows}), f32({rows}), f32({rows, width})},
      {f32({rows, width})},
      "%y = graph.layer_norm_backward %0, %1, %2, %3, %4 : (tensor<5x77xf32>, tensor<77xf32>, tensor<5xf32>, "
      "tensor<5xf32>, tensor<5x77xf32>) -> tensor<5x77xf32> => %y"};
  Tensor dx = CompiledKernel(text).run({ins[0], ins[1], {{rows}, n.mean}, {{rows}, n.rstd}, dy})[0];
  for (int64_t i = 0; i < rows * width; i += 13) {
    auto lossAt = [&](double change) {
      Tensor moved = ins[0];
      moved.values[i] += change;
      std::vector<double> y = layerNorm(moved, ins[1], bias).y;
      double loss = 0;
      for (size_t j = 0; j < y.size(); ++j)
        loss += y[j] * dy.values[j];
      return loss;
    };
    EXPECT_NEAR(dx.values[i], (lossAt(1e-5) - lossAt(-1e-5)) / 2e-5, 1e-4) << "element " << i;
  }
}

TEST(LayerNorm, WeightGradientsAreColumns) {
  Tensors ins{randomTensor({rows, width}, 1), randomTensor({rows}, 2), randomTensor({rows}, 3),
              randomTensor({rows, width}, 4)};
  KernelText text{
      "columns",
      {f32({rows, width}), f32({rows}), f32({rows}), f32({rows, width})},
      {f32({width}), f32({width})},
      "%w, %b = graph.layer_norm_weight_backward %0, %1, %2, %3 : (tensor<5x77xf32>, tensor<5xf32>, tensor<5xf32>, "
      "tensor<5x77xf32>) -> (tensor<77xf32>, tensor<77xf32>) => %w, %b",
      2};
  std::vector<double> dw(width, 0), db(width, 0), added = db;
  for (int64_t i = 0; i < rows * width; ++i) {
    int64_t r = i / width, c = i % width;
    dw[c] += ins[3].values[i] * (ins[0].values[i] - ins[1].values[r]) * ins[2].values[r];
    db[c] += ins[3].values[i];
  }
  CompiledKernel kernel(text);
  Tensors outs = kernel.run(ins);
  expectNear(outs[0], dw, 2e-6);
  expectNear(outs[1], db, 2e-6);
  for (int64_t c = 0; c < width; ++c)
    added[c] = dw[c] + 1;
  Tensor ones{{width}, std::vector<double>(width, 1)};
  expectNear(kernel.run(ins, {ones, ones}, 1, /*add=*/true)[0], added, 2e-6);
  EXPECT_EQ(kernel.run(ins, {}, 2)[0].values, outs[0].values) << "cut in two";
}

TEST(Softmax, SumsToOneAndIgnoresWhatIsAdded) {
  Tensor x = randomTensor({rows, width}, 5, 30);
  KernelText text{"rows", {f32({rows, width})}, {f32({rows, width})}, "%y = graph.softmax %0 : tensor<5x77xf32> => %y"};
  std::vector<double> expected;
  for (int64_t r = 0; r < rows; ++r) {
    double max = *std::max_element(&x.values[r * width], &x.values[r * width] + width), sum = 0;
    for (int64_t i = 0; i < width; ++i)
      sum += std::exp(x.values[r * width + i] - max);
    for (int64_t i = 0; i < width; ++i)
      expected.push_back(std::exp(x.values[r * width + i] - max) / sum);
  }
  expectNear(CompiledKernel(text).run({x})[0], expected, 1e-6);
}

double gelu(bool tanhKind, double x) {
  double u = tanhKind ? std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)) : std::erf(x / std::sqrt(2));
  return x / 2 * (1 + u);
}

class Gelu : public testing::TestWithParam<const char *> {};
TEST_P(Gelu, ForwardAndBackward) {
  std::string kind = GetParam();
  Tensor x = randomTensor({4, 1, 333}, 6, 9), dy = randomTensor({4, 1, 333}, 7);
  Operand operand = f32({4, 1, 333});
  CompiledKernel forward({"loop", {operand}, {operand}, "%y = graph.gelu " + kind + " %0 : tensor<4x1x333xf32> => %y"});
  CompiledKernel backward({"loop",
                           {operand, operand},
                           {operand},
                           "%y = graph.gelu_backward " + kind + " %0, %1 : tensor<4x1x333xf32> => %y"});
  EXPECT_EQ(forward.extent(), 4 * 333) << "one flat loop";
  std::vector<double> y, dx;
  for (int64_t i = 0; i < x.size(); ++i) {
    double at = x.values[i];
    y.push_back(gelu(kind == "tanh", at));
    dx.push_back(dy.values[i] * (gelu(kind == "tanh", at + 1e-6) - gelu(kind == "tanh", at - 1e-6)) / 2e-6);
  }
  expectNear(forward.run({x})[0], y, 2e-6);
  expectNear(backward.run({x, dy})[0], dx, 5e-6);
}
INSTANTIATE_TEST_SUITE_P(Kinds, Gelu, testing::Values("tanh", "erf"));

struct CrossEntropy : testing::Test {
  Tensor logits = randomTensor({2, 3, 41}, 8, 5), labels{{2, 3}, {0, 40, -100, 7, -100, 13}};
  Operand logitsIn = f32({2, 3, 41}), labelsIn{"i64", {2, 3}}, lseOut = f32({2, 3});
  double sum = 0, count = 0;
  std::vector<double> lse, gradient;

  void SetUp() override {
    for (int64_t r = 0; r < 6; ++r) {
      double total = 0;
      for (int64_t i = 0; i < 41; ++i)
        total += std::exp(logits.values[r * 41 + i]);
      lse.push_back(std::log(total));
      bool counted = labels.values[r] != -100;
      count += counted;
      sum += counted ? lse.back() - logits.values[r * 41 + (int64_t)labels.values[r]] : 0;
      for (int64_t i = 0; i < 41; ++i)
        gradient.push_back(counted * 0.25 *
                           (std::exp(logits.values[r * 41 + i] - lse.back()) - (i == labels.values[r])));
    }
  }
};

TEST_F(CrossEntropy, ForwardInOneKernel) {
  KernelText text{"all",
                  {logitsIn, labelsIn},
                  {f32({}), {"i64", {}}},
                  "%s, %c, %l = graph.cross_entropy %0, %1 ignore -100 : (tensor<2x3x41xf32>, tensor<2x3xi64>) -> "
                  "(tensor<f32>, tensor<i64>, tensor<2x3xf32>) => %s, %c"};
  Tensors outs = CompiledKernel(text).run({logits, labels});
  expectNear(outs[0], {sum}, 1e-6);
  EXPECT_EQ(outs[1].values[0], count);
}

TEST_F(CrossEntropy, RowsKeepTheLogOfTheSum) {
  KernelText text{"rows",
                  {logitsIn, labelsIn},
                  {lseOut},
                  "%s, %c, %l = graph.cross_entropy %0, %1 ignore -100 : (tensor<2x3x41xf32>, tensor<2x3xi64>) -> "
                  "(tensor<f32>, tensor<i64>, tensor<2x3xf32>) => %l"};
  expectNear(CompiledKernel(text).run({logits, labels})[0], lse, 1e-6);
}

TEST_F(CrossEntropy, BackwardIsZeroWhereNotCounted) {
  KernelText text{
      "loop",
      {logitsIn, labelsIn, lseOut, f32({})},
      {logitsIn},
      "%y = graph.cross_entropy_backward %0, %1, %2, %3 ignore -100 : (tensor<2x3x41xf32>, tensor<2x3xi64>, "
      "tensor<2x3xf32>, tensor<f32>) -> tensor<2x3x41xf32> => %y"};
  Tensors ins{logits, labels, {{2, 3}, lse}, {{}, {0.25}}};
  expectNear(CompiledKernel(text).run(ins)[0], gradient, 1e-6);
}

TEST(SumSquares, AddsInDouble) {
  Tensor x = randomTensor({100003}, 9);
  KernelText text{
      "all", {f32({100003})}, {{"f64", {}}}, "%y = graph.sum_squares %0 : tensor<100003xf32> -> tensor<f64> => %y"};
  double expected = 0;
  for (double value : x.values)
    expected += value * value;
  EXPECT_NEAR(CompiledKernel(text).run({x})[0].values[0], expected, 1e-9 * expected);
}

TEST(Scale, IsOneFactor) {
  Tensor x = randomTensor({7}, 10);
  KernelText text{"loop", {f32({7})}, {f32({7})}, "%y = graph.scale %0 by 3 over 7 : tensor<7xf32> => %y"};
  std::vector<double> expected;
  for (double value : x.values)
    expected.push_back(value * 3 / 7);
  expectNear(CompiledKernel(text).run({x})[0], expected, 1e-7);
}

/// Small arithmetic on scalars, as after the last micro-batch of a step: in double, results in float.
TEST(Scalars, AreOneKernel) {
  KernelText text{"all",
                  {f32({}), {"i64", {}}, {"f64", {}}},
                  {f32({}), f32({})},
                  R"(%s = graph.cast %0 : tensor<f32> -> tensor<f64>
                     %c = graph.cast %1 : tensor<i64> -> tensor<f64>
                     %l = graph.div %s, %c : tensor<f64>
                     %one = graph.constant dense<1.0> : tensor<f64>
                     %root = graph.sqrt %2 : tensor<f64>
                     %n = graph.min %root, %one : tensor<f64>
                     %loss = graph.cast %l : tensor<f64> -> tensor<f32>
                     %norm = graph.cast %n : tensor<f64> -> tensor<f32> => %loss, %norm)"};
  Tensors outs = CompiledKernel(text).run({{{}, {7.5}}, {{}, {3}}, {{}, {0.25}}});
  EXPECT_EQ(outs[0].values[0], 2.5);
  EXPECT_EQ(outs[1].values[0], 0.5);
}

/// Rows of a table by their numbers, as an embedding does.
TEST(Gather, TakesRowsForSeveralDimensions) {
  Tensor table = randomTensor({9, width}, 15), ids{{2, 3}, {8, 0, 3, 3, 1, 7}};
  KernelText text{"loop",
                  {f32({9, width}), {"i64", {2, 3}}},
                  {f32({2, 3, width})},
                  "%y = graph.gather %0, %1 dim 0 : (tensor<9x77xf32>, tensor<2x3xi64>) -> tensor<2x3x77xf32> => %y"};
  std::vector<double> expected;
  for (double id : ids.values)
    for (int64_t i = 0; i < width; ++i)
      expected.push_back(table.values[(int64_t)id * width + i]);
  expectNear(CompiledKernel(text).run({table, ids})[0], expected, 0);
}

/// Parameter, momentum or m, v after one step of PyTorch's rule.
std::vector<double> stepped(const std::string &kind, double p, double g, double m, double v, const double *scalars) {
  double lr = scalars[0], decay = 0.1;
  g *= scalars[1];
  if (kind != "adamw")
    g += decay * p;
  if (kind == "sgd") {
    m = 0.9 * m + g;
    return {p - lr * m, m};
  }
  if (kind == "adamw")
    p -= lr * decay * p;
  m += 0.1 * (g - m), v = 0.95 * v + 0.05 * g * g;
  return {p - lr / scalars[2] * m / (std::sqrt(v) / scalars[3] + 1e-8), m, v};
}

class OptimizerStep : public testing::TestWithParam<const char *> {};
TEST_P(OptimizerStep, IsPyTorchs) {
  std::string kind = GetParam();
  constexpr int64_t n = 2500;
  Operand bucket = f32({n});
  Tensors ins{randomTensor({n}, 11), randomTensor({n}, 12), {{6}, {0.01, 0.5, 0.19, 0.3, 1, 0}}, randomTensor({n}, 13)};
  KernelText text{"loop", {bucket, bucket, f32({6}), bucket}, {bucket, bucket}, ""};
  std::string t = "tensor<2500xf32>", states = "%3", types = t, hyper = "momentum = 0.9 : f64", results = "%y:2",
              values = "%y#0, %y#1";
  if (kind != "sgd") {
    ins.push_back(randomTensor({n}, 14));
    for (double &value : ins[4].values)
      value = std::fabs(value);
    text.ins.push_back(bucket), text.outs.push_back(bucket);
    states = "%3, %4", types += ", " + t, hyper = "beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64";
    results = "%y:3", values += ", %y#2";
  }
  text.body = results + " = graph.optimizer_step " + kind + " %0, %1, %2 states " + states + " {" + hyper +
              ", weight_decay = 0.1 : f64} : (" + t + ", " + t + ", tensor<6xf32>, " + types + ") -> (" + t + ", " +
              types + ") => " + values;
  CompiledKernel kernel(text);
  Tensors outs = kernel.run(ins);
  for (size_t result = 0; result < outs.size(); ++result) {
    std::vector<double> expected;
    for (int64_t i = 0; i < n; ++i)
      expected.push_back(stepped(kind, ins[0].values[i], ins[1].values[i], ins[3].values[i],
                                 kind == "sgd" ? 0 : ins[4].values[i], ins[2].values.data())[result]);
    expectNear(outs[result], expected, 1e-6);
    EXPECT_EQ(kernel.run(ins, {}, 2)[result].values, outs[result].values) << "cut in two";
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, OptimizerStep, testing::Values("sgd", "adam", "adamw"));

/// Largest error of a function over [from, to], in units in the last place of the exact result.
double worstError(const std::string &op, double (*exact)(double), double from, double to) {
  constexpr int64_t n = 200000;
  Tensor x{{n}, {}};
  for (int64_t i = 0; i < n; ++i)
    x.values.push_back((float)(from + (to - from) * i / n));
  Tensor y = CompiledKernel({"loop", {f32({n})}, {f32({n})}, "%y = graph." + op + " %0 : tensor<200000xf32> => %y"})
                 .run({x})[0];
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    double expected = exact(x.values[i]);
    float place = std::nextafter((float)std::fabs(expected), INFINITY) - (float)std::fabs(expected);
    worst = std::max(worst, std::fabs(y.values[i] - expected) / std::max(place, 1.2e-38f));
  }
  return worst;
}

TEST(Functions, AreWithinAFewUnitsInTheLastPlace) {
  EXPECT_LE(worstError("exp", std::exp, -87, 88), 4);
  EXPECT_LE(worstError("log", std::log, 1e-30, 3), 4);
  EXPECT_LE(worstError("log", std::log, 3, 1e9), 4);
  EXPECT_LE(worstError("tanh", std::tanh, -10, 10), 5);
  EXPECT_LE(worstError("erf", std::erf, -5, 5), 4);
}

/// Results are scaled by an instruction or, as on GPUs, by two products: zeros, subnormal numbers and infinity as well.
TEST(Functions, ExpIsScaledToTheSameBits) {
  constexpr int64_t n = 20000;
  KernelText text{"loop", {f32({n})}, {f32({n})}, "%y = graph.exp %0 : tensor<20000xf32> => %y"};
  Tensor x{{n}, {}};
  for (int64_t i = 0; i < n; ++i)
    x.values.push_back((float)(-106 + 196.0 * i / n));
  expectSameOnGpu(text, {x}, CompiledKernel(text).run({x})[0]);
}

TEST(Functions, AtTheEnds) {
  Tensor x{{4}, {-200, 200, -INFINITY, INFINITY}};
  auto at = [&](const std::string &op) {
    return CompiledKernel({"loop", {f32({4})}, {f32({4})}, "%y = graph." + op + " %0 : tensor<4xf32> => %y"})
        .run({x})[0]
        .values;
  };
  EXPECT_EQ(at("exp"), (std::vector<double>{0, INFINITY, 0, INFINITY}));
  EXPECT_EQ(at("tanh"), (std::vector<double>{-1, 1, -1, 1}));
  EXPECT_EQ(at("erf"), (std::vector<double>{-1, 1, -1, 1}));
}

} // namespace
