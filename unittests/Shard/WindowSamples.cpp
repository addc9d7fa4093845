// Samples of ops that tp does not split, whose batch alone may be cut: windows, and what a step does with parameters.
#include "SampleText.h"

using namespace xlc;
using namespace xlc::shard;

void shard::addWindows(std::vector<std::string> &samples) {
  const std::string how = "groups 2 by [2, 1] dilations [1, 2] pads [1, 0]";
  const std::string x = "tensor<2x4x6x4xf64>", w = "tensor<6x2x3x2xf64>", y = "tensor<2x6x3x2xf64>";
  samples.push_back(sampleOf({x, w}, "%y = graph.convolution %0, %1 " + how + " : (" + x + ", " + w + ") -> " + y, y));
  samples.push_back(
      sampleOf({y, w}, "%y = graph.convolution_transpose %0, %1 " + how + " : (" + y + ", " + w + ") -> " + x, x));
  samples.push_back(sampleOf(
      {x, y}, "%y = graph.convolution_weight_backward %0, %1 " + how + " : (" + x + ", " + y + ") -> " + w, w));
  const std::string pooled = "tensor<2x4x3x2xf64>", window = "window [3, 2] by [2, 1] dilations [1, 2] pads [1, 0]";
  samples.push_back(sampleOf({x}, "%y = graph.max_pool %0 " + window + " : (" + x + ") -> " + pooled, pooled));
  samples.push_back(sampleOf(
      {x, pooled}, "%y = graph.max_pool_backward %0, %1 " + window + " : (" + x + ", " + pooled + ") -> " + x, x));
}

void shard::addUpdates(std::vector<std::string> &samples) {
  const std::string x = "tensor<4x6xf64>";
  samples.push_back(sampleOf({x}, "%y = graph.sum_squares %0 : " + x + " -> tensor<f64>", "tensor<f64>"));
  // The last scalar says that the step is taken.
  samples.push_back(sampleOf(
      {x, x, "tensor<4xf64>", x},
      "%a = graph.constant dense<1.0> : tensor<2xf64>\n"
      "%s = graph.concat %2, %a dim 0 : (tensor<4xf64>, tensor<2xf64>) -> tensor<6xf64>\n"
      "%y, %m = graph.optimizer_step sgd %0, %1, %s states %3 {momentum = 0.9 : f64, weight_decay = 0.1 : f64} : (" +
          x + ", " + x + ", tensor<6xf64>, " + x + ") -> (" + x + ", " + x + ")",
      "%y, %m", x + ", " + x));
  const std::string scale = "module attributes {graph.loss_scale = {dynamic = true, hysteresis = 1 : i64, initial = "
                            "6.5536e+04 : f64, min = 1.0 : f64, window = 2000 : i64}} {\n";
  samples.push_back(scale + sampleOf({}, "%y = graph.step_number loss_scale : tensor<f32>", "tensor<f32>") + "}\n");
  samples.push_back(sampleOf({}, "%y = graph.site 3 : tensor<i64>", "tensor<i64>"));
  const std::string counts = "tensor<4x6xi64>";
  samples.push_back(
      sampleOf({counts, counts, counts}, "%y = graph.random_bits %0, %1, %2 : tensor<4x6xi32>", "tensor<4x6xi32>"));
  samples.push_back(
      sampleOf({"tensor<4x6xf32>", "tensor<4x6xi32>"},
               "%y = graph.stochastic_cast %0, %1 draw 0 : (tensor<4x6xf32>, tensor<4x6xi32>) -> tensor<4x6xbf16>",
               "tensor<4x6xbf16>"));
}
