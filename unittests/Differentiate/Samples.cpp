// At least one sample per gradient rule: sizes of 1, broadcasts, each operand that can carry a
// gradient, each kind that the rule tells apart. The op under test stands in `body`.
#include "Samples.h"

using namespace xlc;

namespace {
const std::string x23 = "tensor<2x3xf64>", x13 = "tensor<1x3xf64>", x1 = "tensor<1xf64>", scalar = "tensor<f64>";

GradientSample unary(const std::string &op, double low = -1, double high = 1) {
  return {op, {x23}, "%y = " + op + " %0 : " + x23, x23, low, high};
}

GradientSample binary(const std::string &op, double low = -1, double high = 1) {
  return {op, {x23, x23}, "%y = " + op + " %0, %1 : " + x23, x23, low, high};
}

GradientSample reduction(const std::string &kind, const std::string &dims, const std::string &result) {
  return {"graph.reduce",
          {"tensor<2x1x3xf64>"},
          "%y = graph.reduce " + kind + " %0 dims " + dims + " : tensor<2x1x3xf64> -> " + result,
          result};
}

GradientSample contraction(const std::string &spec, const std::string &a, const std::string &b, const std::string &y) {
  return {"graph.contract", {a, b}, "%y = graph.contract \"" + spec + "\" %0, %1 : (" + a + ", " + b + ") -> " + y, y};
}

GradientSample layerNorm(const std::string &x, const std::string &w, const std::string &rows) {
  std::string types = "(" + x + ", " + w + ", " + w + ") -> (" + x + ", " + rows + ", " + rows + ")";
  return {
      "graph.layer_norm", {x, w, w}, "%y, %m, %s = graph.layer_norm %0, %1, %2 {epsilon = 0.1 : f64} : " + types, x};
}

GradientSample attention(const std::string &mask, const std::string &q, const std::string &k, const std::string &v,
                         const std::string &out, const std::string &lse) {
  return {"graph.attention",
          {q, k, v},
          "%y, %l = graph.attention " + mask + " %0, %1, %2 scale 7.0e-1 : (" + q + ", " + k + ", " + v + ") -> (" +
              out + ", " + lse + ")",
          out};
}

/// `how`: groups, strides, dilations and pads.
GradientSample convolution(const std::string &x, const std::string &w, const std::string &y, const std::string &how) {
  return {"graph.convolution", {x, w}, "%y = graph.convolution %0, %1 " + how + " : (" + x + ", " + w + ") -> " + y, y};
}

GradientSample convolutionTranspose(const std::string &y, const std::string &w, const std::string &x,
                                    const std::string &how) {
  return {"graph.convolution_transpose",
          {y, w},
          "%y = graph.convolution_transpose %0, %1 " + how + " : (" + y + ", " + w + ") -> " + x,
          x};
}

GradientSample maxPool(const std::string &x, const std::string &y, const std::string &how) {
  return {"graph.max_pool", {x}, "%y = graph.max_pool %0 window " + how + " : (" + x + ") -> " + y, y};
}

GradientSample scatterElements(const std::string &kind, const std::string &base, const std::string &indices,
                               const std::string &updates, int64_t dimension) {
  return {"graph.scatter_elements",
          {base, updates},
          "%i = graph.constant " + indices + "\n%y = graph.scatter_elements " + kind + " %0, %i, %1 dim " +
              std::to_string(dimension) + " : (" + base + ", " + indices.substr(indices.rfind(' ') + 1) + ", " +
              updates + ") -> " + base,
          base};
}

std::vector<GradientSample> makeWindows() {
  const std::string plain = "groups 1 by [1] dilations [1] pads [1]";
  const std::string skewed = "groups 2 by [2, 1] dilations [1, 2] pads [1, 0]";
  const std::string x = "tensor<2x4x5x4xf64>", w = "tensor<6x2x3x2xf64>", y = "tensor<2x6x3x2xf64>";
  return {
      convolution("tensor<1x1x3xf64>", "tensor<1x1x3xf64>", "tensor<1x1x3xf64>", plain),
      convolution("tensor<2x3x4xf64>", "tensor<2x3x1xf64>", "tensor<2x2x6xf64>", plain), // reads beyond both ends
      convolution(x, w, y, skewed),
      convolution("tensor<1x2x2x3x2xf64>", "tensor<1x2x2x1x2xf64>", "tensor<1x1x1x3x1xf64>",
                  "groups 1 by [1, 1, 1] dilations [1, 1, 1] pads [0, 0, 0]"),
      convolutionTranspose("tensor<1x1x3xf64>", "tensor<1x1x3xf64>", "tensor<1x1x3xf64>", plain),
      convolutionTranspose(y, w, x, skewed),
      maxPool("tensor<2x1x4xf64>", "tensor<2x1x2xf64>", "[2] by [2] dilations [1] pads [0]"),
      maxPool("tensor<1x2x5x4xf64>", "tensor<1x2x3x2xf64>", "[3, 2] by [2, 1] dilations [1, 2] pads [1, 0]"),
      maxPool("tensor<1x1x1x2x2xf64>", "tensor<1x1x1x1x1xf64>",
              "[1, 2, 2] by [1, 1, 1] dilations [1, 1, 1] pads [0, 0, 0]"),
  };
}

GradientSample rmsNorm(const std::string &x, const std::string &w, const std::string &rows) {
  return {"graph.rms_norm",
          {x, w},
          "%y, %s = graph.rms_norm %0, %1 {epsilon = 0.1 : f64} : (" + x + ", " + w + ") -> (" + x + ", " + rows + ")",
          x};
}

/// Two heads in one group; the second query of the first sample sees no key.
GradientSample biasedAttention(const std::string &mask, const std::string &bias, const std::string &attributes) {
  const std::string q = "tensor<2x3x2x2xf64>", k = "tensor<2x3x1x2xf64>", v = "tensor<2x3x1x3xf64>";
  const std::string b = bias.substr(bias.rfind(' ') + 1);
  return {"graph.attention",
          {q, k, v},
          "%b = graph.constant " + bias + "\n%y, %l = graph.attention " + mask + " %0, %1, %2 bias %b scale 7.0e-1 " +
              attributes + " : (" + q + ", " + k + ", " + v + ", " + b +
              ") -> (tensor<2x3x2x3xf64>, tensor<2x2x3xf64>)",
          "tensor<2x3x2x3xf64>"};
}

std::vector<GradientSample> makeBiasedAttentions() {
  const std::string rows = "dense<[[[[true, true, true], [false, false, false], [true, false, true]]], "
                           "[[[false, true, true], [true, true, false], [true, true, true]]]]> : tensor<2x1x3x3xi1>";
  const std::string keys =
      "dense<[[[[0.0, 0.5, -1.0]]], [[[-3.4e38, 0.25, 0xFFF0000000000000]]]]> : tensor<2x1x1x3xf64>";
  std::vector<GradientSample> samples;
  for (const char *mask : {"none", "causal"})
    for (const char *attributes : {"", "{uniform}", "{window = 2 : i64}", "{uniform, window = 1 : i64}"}) {
      samples.push_back(biasedAttention(mask, rows, attributes));
      samples.push_back(biasedAttention(mask, keys, attributes));
    }
  return samples;
}

std::vector<GradientSample> makeElementwise() {
  return {
      unary("graph.abs"),
      unary("graph.neg"),
      unary("graph.exp"),
      unary("graph.log", 0.5, 1.5),
      unary("graph.sqrt", 0.5, 1.5),
      unary("graph.tanh"),
      unary("graph.erf"),
      unary("graph.sigmoid", -3, 3),
      unary("graph.silu", -3, 3),
      unary("graph.sin"),
      unary("graph.cos"),
      unary("graph.atan"),
      unary("graph.softmax"),
      {"graph.softmax", {"tensor<2x1xf64>"}, "%y = graph.softmax %0 : tensor<2x1xf64>", "tensor<2x1xf64>"},
      binary("graph.add"),
      binary("graph.sub"),
      binary("graph.mul"),
      binary("graph.div", 0.5, 1.5),
      binary("graph.max"),
      binary("graph.min"),
      binary("graph.pow", 0.5, 1.5),
      // Both operands are one value.
      {"graph.mul", {x23}, "%y = graph.mul %0, %0 : " + x23, x23},
      {"graph.cast", {x23}, "%y = graph.cast %0 : " + x23 + " -> " + x23, x23},
      {"graph.scale", {x23}, "%y = graph.scale %0 by -3 over 7 : " + x23, x23},
      {"graph.select",
       {x13, x13},
       "%c = graph.constant dense<[[true, false, true]]> : tensor<1x3xi1>\n"
       "%y = graph.select %c, %0, %1 : tensor<1x3xi1>, " +
           x13,
       x13},
      {"graph.gelu", {x23}, "%y = graph.gelu erf %0 : " + x23, x23},
      {"graph.gelu", {x23}, "%y = graph.gelu tanh %0 : " + x23, x23},
  };
}

std::vector<GradientSample> makeShapes() {
  const std::string x32 = "tensor<3x2xf64>", x413 = "tensor<4x1x3xf64>";
  return {
      {"graph.broadcast", {x13}, "%y = graph.broadcast %0 : " + x13 + " -> " + x23, x23},
      {"graph.broadcast", {x13}, "%y = graph.broadcast %0 : " + x13 + " -> " + x413, x413},
      {"graph.broadcast", {scalar}, "%y = graph.broadcast %0 : " + scalar + " -> " + x23, x23},
      {"graph.reshape", {x23}, "%y = graph.reshape %0 : " + x23 + " -> " + x32, x32},
      {"graph.reshape", {x1}, "%y = graph.reshape %0 : " + x1 + " -> " + scalar, scalar},
      // A permutation that is not its own inverse.
      {"graph.transpose",
       {x413},
       "%y = graph.transpose %0 [1, 2, 0] : " + x413 + " -> tensor<1x3x4xf64>",
       "tensor<1x3x4xf64>"},
      {"graph.slice",
       {x23},
       "%y = graph.slice %0 from [0, 1] by [1, 1] : " + x23 + " -> " + "tensor<2x2xf64>",
       "tensor<2x2xf64>"},
      {"graph.slice",
       {x23},
       "%y = graph.slice %0 from [1, 2] by [-1, -2] : " + x23 + " -> " + "tensor<2x2xf64>",
       "tensor<2x2xf64>"},
      // Slices that tile their operand, the second one first.
      {"graph.slice",
       {x23},
       "%b = graph.slice %0 from [0, 1] by [1, 1] : " + x23 +
           " -> tensor<2x2xf64>\n%a = graph.slice %0 from [0, 0] by "
           "[1, 1] : " +
           x23 +
           " -> tensor<2x1xf64>\n%w = graph.broadcast %a : tensor<2x1xf64> -> tensor<2x2xf64>\n"
           "%y = graph.mul %w, %b : tensor<2x2xf64>",
       "tensor<2x2xf64>"},
      {"graph.concat",
       {x13, x23, x13},
       "%y = graph.concat %0, %1, %2 dim 0 : (" + x13 + ", " + x23 + ", " + x13 + ") -> tensor<4x3xf64>",
       "tensor<4x3xf64>"},
      {"graph.pad",
       {x13, scalar},
       "%y = graph.pad %0, %1 low [1, 0] high [0, 2] : (" + x13 + ", " + scalar + ") -> tensor<2x5xf64>",
       "tensor<2x5xf64>"},
  };
}

std::vector<GradientSample> makeLookups() {
  const std::string x32 = "tensor<3x2xf64>";
  const std::string pick = "%i = graph.constant dense<[2, 0, 2, 1]> : tensor<4xi64>\n";
  return {
      {"graph.gather",
       {x32},
       pick + "%y = graph.gather %0, %i dim 0 : (" + x32 + ", tensor<4xi64>) -> tensor<4x2xf64>",
       "tensor<4x2xf64>"},
      {"graph.gather",
       {x13},
       pick + "%y = graph.gather %0, %i dim 1 : (" + x13 + ", tensor<4xi64>) -> tensor<1x4xf64>",
       "tensor<1x4xf64>"},
      // Every row has its own indices; all rows have the same.
      {"graph.gather_elements",
       {x23},
       "%i = graph.constant dense<[[2, 0, 2, 1], [0, 0, 1, 2]]> : tensor<2x4xi64>\n"
       "%y = graph.gather_elements %0, %i dim 1 : (" +
           x23 + ", tensor<2x4xi64>) -> tensor<2x4xf64>",
       "tensor<2x4xf64>"},
      {"graph.gather_elements",
       {x23},
       pick + "%y = graph.gather_elements %0, %i dim 1 : (" + x23 + ", tensor<4xi64>) -> tensor<2x4xf64>",
       "tensor<2x4xf64>"},
      {"graph.scatter_elements_add",
       {"tensor<2x4xf64>"},
       pick + "%y = graph.scatter_elements_add %i, %0 dim 1 : (tensor<4xi64>, tensor<2x4xf64>) -> " + x23,
       x23},
      {"graph.scatter_add",
       {"tensor<2x4xf64>"},
       pick + "%y = graph.scatter_add %i, %0 dim 1 : (tensor<4xi64>, tensor<2x4xf64>) -> " + x23,
       x23},
      // Where an update replaces another one, both have a gradient: places are distinct here (scatter.mlir has others).
      scatterElements("last", x23, "dense<[[2, 0], [1, 2]]> : tensor<2x2xi64>", "tensor<2x2xf64>", 1),
      scatterElements("last", x23, "dense<[[1], [0]]> : tensor<2x1xi64>", x23, 0),
      scatterElements("max", x23, "dense<[2, 0, 2, 1]> : tensor<4xi64>", "tensor<2x4xf64>", 1),
      scatterElements("min", x23, "dense<[[1], [1], [0]]> : tensor<3x1xi64>", "tensor<3x3xf64>", 0),
  };
}

std::vector<GradientSample> makeReductionsAndNamed() {
  const std::string q = "tensor<2x3x4x2xf64>", k = "tensor<2x5x2x2xf64>", v = "tensor<2x5x2x3xf64>";
  const std::string one = "tensor<1x1x1x1xf64>", logits = "tensor<3x4xf64>";
  return {
      reduction("sum", "[0, 2]", "tensor<1xf64>"),
      reduction("sum", "[1]", "tensor<2x3xf64>"),
      reduction("max", "[2]", "tensor<2x1xf64>"),
      reduction("min", "[0, 1, 2]", "tensor<f64>"),
      reduction("prod", "[0, 2]", "tensor<1xf64>"),
      reduction("prod", "[1]", "tensor<2x3xf64>"),
      // A zero among the factors.
      {"graph.reduce",
       {x23},
       "%z = graph.constant dense<[[true, false, true], [true, true, true]]> : tensor<2x3xi1>\n"
       "%n = graph.constant dense<0.0> : tensor<2x3xf64>\n"
       "%x = graph.select %z, %0, %n : tensor<2x3xi1>, " +
           x23 + "\n%p = graph.reduce prod %x dims [1] : " + x23 +
           " -> tensor<2xf64>\n%s = graph.reduce sum %0 dims [1] : " + x23 +
           " -> tensor<2xf64>\n%y = graph.add %p, %s : tensor<2xf64>",
       "tensor<2xf64>"},
      contraction("ij,jk->ik", x23, "tensor<3x4xf64>", "tensor<2x4xf64>"),
      contraction("ij,kj->ki", x13, x23, "tensor<2x1xf64>"),
      contraction("bij,bj->bi", "tensor<2x3x1xf64>", "tensor<2x1xf64>", "tensor<2x3xf64>"),
      contraction("i,j->ji", "tensor<2xf64>", "tensor<3xf64>", "tensor<3x2xf64>"),
      layerNorm("tensor<2x3x4xf64>", "tensor<4xf64>", "tensor<2x3xf64>"),
      layerNorm("tensor<2x1xf64>", "tensor<1xf64>", "tensor<2xf64>"),
      rmsNorm("tensor<2x3x4xf64>", "tensor<4xf64>", "tensor<2x3xf64>"),
      rmsNorm("tensor<2x1xf64>", "tensor<1xf64>", "tensor<2xf64>"),
      attention("none", q, k, v, "tensor<2x3x4x3xf64>", "tensor<2x4x3xf64>"),
      attention("causal", q, k, v, "tensor<2x3x4x3xf64>", "tensor<2x4x3xf64>"),
      attention("causal", one, one, one, one, "tensor<1x1x1xf64>"),
      {"graph.cross_entropy",
       {logits},
       "%l = graph.constant dense<[3, -100, 0]> : tensor<3xi64>\n"
       "%y, %n, %s = graph.cross_entropy %0, %l ignore -100 : (" +
           logits + ", tensor<3xi64>) -> (" + scalar + ", tensor<i64>, tensor<3xf64>)",
       scalar},
  };
}
} // namespace

llvm::ArrayRef<GradientSample> xlc::getGradientSamples() {
  static const std::vector<GradientSample> samples = [] {
    std::vector<GradientSample> all;
    for (const auto &chapter : {makeElementwise(), makeShapes(), makeLookups(), makeReductionsAndNamed(),
                                makeBiasedAttentions(), makeWindows()})
      all.insert(all.end(), chapter.begin(), chapter.end());
    return all;
  }();
  return samples;
}
