// RMS norm, the logistic function and SiLU in their kernels, against their definition in double.
#include "CompiledKernel.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace xlc::test;

namespace {

constexpr int64_t rows = 5, width = 77;

Operand f32(std::vector<int64_t> shape) { return {"f32", std::move(shape), {}}; }

void expectNear(const Tensor &actual, const std::vector<double> &expected, double tolerance = 2e-6) {
  ASSERT_EQ(actual.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual.values[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << "element " << i;
}

std::vector<double> rstdOf(const Tensor &x) {
  std::vector<double> rstd;
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t i = 0; i < width; ++i)
      squares += x.values[r * width + i] * x.values[r * width + i] / width;
    rstd.push_back(1 / std::sqrt(squares + 1e-5));
  }
  return rstd;
}

TEST(RmsNorm, ForwardAndBackward) {
  Tensor x = randomTensor({rows, width}, 1), weight = randomTensor({width}, 2), dy = randomTensor({rows, width}, 3);
  std::vector<double> rstd = rstdOf(x), y, dx, dweight(width, 0);
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0;
    for (int64_t i = 0; i < width; ++i) {
      int64_t at = r * width + i;
      y.push_back(x.values[at] * rstd[r] * weight.values[i]);
      mean += dy.values[at] * weight.values[i] * x.values[at] * rstd[r] / width;
      dweight[i] += dy.values[at] * x.values[at] * rstd[r];
    }
    for (int64_t i = 0; i < width; ++i) {
      int64_t at = r * width + i;
      dx.push_back(rstd[r] * (dy.values[at] * weight.values[i] - x.values[at] * rstd[r] * mean));
    }
  }
  Tensors forward = CompiledKernel({"rows",
                                    {f32({rows, width}), f32({width})},
                                    {f32({rows, width}), f32({rows})},
                                    "%y, %r = graph.rms_norm %0, %1 {epsilon = 1.0e-05 : f64} : (tensor<5x77xf32>, "
                                    "tensor<77xf32>) -> (tensor<5x77xf32>, tensor<5xf32>) => %y, %r"})
                        .run({x, weight});
  expectNear(forward[0], y);
  expectNear(forward[1], rstd);
  Tensor saved{{rows}, rstd};
  KernelText backward{"rows",
                      {f32({rows, width}), f32({width}), f32({rows}), f32({rows, width})},
                      {f32({rows, width})},
                      "%y = graph.rms_norm_backward %0, %1, %2, %3 : (tensor<5x77xf32>, tensor<77xf32>, tensor<5xf32>, "
                      "tensor<5x77xf32>) -> tensor<5x77xf32> => %y"};
  expectNear(CompiledKernel(backward).run({x, weight, saved, dy})[0], dx);
  KernelText columns{"columns",
                     {f32({rows, width}), f32({rows}), f32({rows, width})},
                     {f32({width})},
                     "%y = graph.rms_norm_weight_backward %0, %1, %2 : (tensor<5x77xf32>, tensor<5xf32>, "
                     "tensor<5x77xf32>) -> tensor<77xf32> => %y"};
  expectNear(CompiledKernel(columns).run({x, saved, dy})[0], dweight);
}

TEST(Silu, AndTheLogisticFunctionForwardAndBackward) {
  Tensor x = randomTensor({rows, width}, 4), dy = randomTensor({rows, width}, 5);
  x.values[0] = 100, x.values[1] = -100; // neither overflows
  std::vector<double> sigmoid, silu, dx;
  for (size_t i = 0; i < x.values.size(); ++i) {
    double s = 1 / (1 + std::exp(-x.values[i]));
    sigmoid.push_back(s), silu.push_back(x.values[i] * s);
    dx.push_back(dy.values[i] * s * (1 + x.values[i] * (1 - s)));
  }
  auto run = [&](std::vector<Operand> ins, const std::string &op, const Tensors &values) {
    return CompiledKernel({"loop", ins, {f32({rows, width})}, "%y = " + op + " : tensor<5x77xf32> => %y"})
        .run(values)[0];
  };
  expectNear(run({f32({rows, width})}, "graph.sigmoid %0", {x}), sigmoid);
  expectNear(run({f32({rows, width})}, "graph.silu %0", {x}), silu);
  expectNear(run({f32({rows, width}), f32({rows, width})}, "graph.silu_backward %0, %1", {x, dy}), dx);
}

} // namespace
