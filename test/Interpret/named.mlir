// Named ops against values computed outside the compiler; backward ops against central
// differences of the forward formula.
// RUN: xlc-opt --xlc-interpret %s | FileCheck %s

// Rows [0, ln 2] and one that would overflow without the maximum.
// CHECK: // softmax.0: tensor<2x2xf64> [0.333333, 0.666667, 0.5, 0.5]
func.func @softmax() -> tensor<2x2xf64> {
  %x = graph.constant dense<[[0.0, 0.69314718055994529], [1000.0, 1000.0]]> : tensor<2x2xf64>
  %y = graph.softmax %x : tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

// CHECK: // gelu.0: tensor<3xf64> [-0.158655, 0, 1.9545]
// CHECK: // gelu.1: tensor<3xf64> [-0.158808, 0, 1.9546]
// CHECK: // gelu.2: tensor<3xf64> [-0.833155, 5, 10.8523]
// CHECK: // gelu.3: tensor<3xf64> [-0.829641, 5, 10.861]
func.func @gelu() -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %x = graph.constant dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>
  %ten = graph.constant dense<10.0> : tensor<3xf64>
  %0 = graph.gelu erf %x : tensor<3xf64>
  %1 = graph.gelu tanh %x : tensor<3xf64>
  %2 = graph.gelu_backward erf %x, %ten : tensor<3xf64>
  %3 = graph.gelu_backward tanh %x, %ten : tensor<3xf64>
  return %0, %1, %2, %3 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

// CHECK: // layer_norm.0: tensor<2x3xf64> [-1.17108, 0.5, 2.51324, -0.450988, 3.20593, -3.70593]
// CHECK: // layer_norm.1: tensor<2xf64> [3, 3]
// CHECK: // layer_norm.2: tensor<2xf64> [0.58554, 0.450988]
// CHECK: // layer_norm.3: tensor<2x3xf64> [1.01215, -2.04939, 1.03724, -0.986058, 0.252247, 0.73381]
// CHECK: // layer_norm.4: tensor<3xf64> [-1.17108, 4.05889, -0.316435]
// CHECK: // layer_norm.5: tensor<3xf64> [1, 1, 1.5]
func.func @layer_norm() -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %x = graph.constant dense<[[1.0, 3.0, 5.0], [2.0, 6.0, 1.0]]> : tensor<2x3xf64>
  %w = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %b = graph.constant dense<[0.0, 0.5, -1.0]> : tensor<3xf64>
  %dy = graph.constant dense<[[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]> : tensor<2x3xf64>
  %0:3 = graph.layer_norm %x, %w, %b {epsilon = 0.25 : f64} : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2xf64>)
  %1 = graph.layer_norm_backward %x, %w, %0#1, %0#2, %dy : (tensor<2x3xf64>, tensor<3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %2:2 = graph.layer_norm_weight_backward %x, %0#1, %0#2, %dy : (tensor<2x3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#0, %0#1, %0#2, %1, %2#0, %2#1 : tensor<2x3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>
}

// A row of one element has no variance: y is the bias.
// CHECK: // layer_norm_of_one.0: tensor<1x1xf64> [7]
func.func @layer_norm_of_one() -> tensor<1x1xf64> {
  %x = graph.constant dense<5.0> : tensor<1x1xf64>
  %w = graph.constant dense<2.0> : tensor<1xf64>
  %b = graph.constant dense<7.0> : tensor<1xf64>
  %0:3 = graph.layer_norm %x, %w, %b {epsilon = 1.0e-5 : f64} : (tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>) -> (tensor<1x1xf64>, tensor<1xf64>, tensor<1xf64>)
  return %0#0 : tensor<1x1xf64>
}

// Two queries, two heads that share one group of keys.
// CHECK: // attention.0: tensor<1x2x2x1xf64> [16.2246, 17.3106, 18.808, 12.6894]
// CHECK: // attention.1: tensor<1x2x2xf64> [1.22408, 3.12693, 1.81326, -0.186738]
// CHECK: // attention.2: tensor<1x2x2x1xf64> [2.35004, 3.93224, -1.04994, 0.98306]
// CHECK: // attention.3: tensor<1x2x1x1xf64> [-1.01216, 1.01216]
// CHECK: // attention.4: tensor<1x2x1x1xf64> [1.16175, 1.33825]
func.func @attention() -> (tensor<1x2x2x1xf64>, tensor<1x2x2xf64>, tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) {
  %q = graph.constant dense<[[[[0.5], [1.0]], [[2.0], [-1.0]]]]> : tensor<1x2x2x1xf64>
  %k = graph.constant dense<[[[[1.0]], [[3.0]]]]> : tensor<1x2x1x1xf64>
  %v = graph.constant dense<[[[[10.0]], [[20.0]]]]> : tensor<1x2x1x1xf64>
  %dout = graph.constant dense<[[[[1.0], [2.0]], [[-1.0], [0.5]]]]> : tensor<1x2x2x1xf64>
  %0:2 = graph.attention none %q, %k, %v scale 5.0e-1 : (tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) -> (tensor<1x2x2x1xf64>, tensor<1x2x2xf64>)
  %1:3 = graph.attention_backward none %q, %k, %v, %0#0, %0#1, %dout scale 5.0e-1 : (tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x2x1xf64>, tensor<1x2x2xf64>, tensor<1x2x2x1xf64>) -> (tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  return %0#0, %0#1, %1#0, %1#1, %1#2 : tensor<1x2x2x1xf64>, tensor<1x2x2xf64>, tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>
}

// CHECK: // causal.0: tensor<1x2x2x1xf64> [10, 10, 18.808, 12.6894]
// CHECK: // causal.1: tensor<1x2x2xf64> [0.25, 3.12693, 0.5, -0.186738]
// CHECK: // causal.2: tensor<1x2x2x1xf64> [0, 0, -1.04994, 0.98306]
// CHECK: // causal.3: tensor<1x2x1x1xf64> [1.54147, -1.54147]
// CHECK: // causal.4: tensor<1x2x1x1xf64> [3.24633, -0.746326]
func.func @causal() -> (tensor<1x2x2x1xf64>, tensor<1x2x2xf64>, tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) {
  %q = graph.constant dense<[[[[0.5], [1.0]], [[2.0], [-1.0]]]]> : tensor<1x2x2x1xf64>
  %k = graph.constant dense<[[[[1.0]], [[3.0]]]]> : tensor<1x2x1x1xf64>
  %v = graph.constant dense<[[[[10.0]], [[20.0]]]]> : tensor<1x2x1x1xf64>
  %dout = graph.constant dense<[[[[1.0], [2.0]], [[-1.0], [0.5]]]]> : tensor<1x2x2x1xf64>
  %0:2 = graph.attention causal %q, %k, %v scale 5.0e-1 : (tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) -> (tensor<1x2x2x1xf64>, tensor<1x2x2xf64>)
  %1:3 = graph.attention_backward causal %q, %k, %v, %0#0, %0#1, %dout scale 5.0e-1 : (tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x2x1xf64>, tensor<1x2x2xf64>, tensor<1x2x2x1xf64>) -> (tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  return %0#0, %0#1, %1#0, %1#1, %1#2 : tensor<1x2x2x1xf64>, tensor<1x2x2xf64>, tensor<1x2x2x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>
}

// The third row is not counted: it adds neither to the sum nor to the count, and gets no gradient.
// CHECK: // cross_entropy.0: tensor<f64> [1.79176]
// CHECK: // cross_entropy.1: tensor<i64> [2]
// CHECK: // cross_entropy.2: tensor<3xf64> [1.38629, 2.09861, 7.40761]
// CHECK: // cross_entropy.3: tensor<3x3xf64> [1, -2, 1, 1.33333, 1.33333, -2.66667, 0, 0, 0]
func.func @cross_entropy() -> (tensor<f64>, tensor<i64>, tensor<3xf64>, tensor<3x3xf64>) {
  %x = graph.constant dense<[[0.0, 0.69314718055994529, 0.0], [1.0, 1.0, 1.0], [5.0, 6.0, 7.0]]> : tensor<3x3xf64>
  %labels = graph.constant dense<[1, 2, -100]> : tensor<3xi64>
  %four = graph.constant dense<4.0> : tensor<f64>
  %0:3 = graph.cross_entropy %x, %labels ignore -100 : (tensor<3x3xf64>, tensor<3xi64>) -> (tensor<f64>, tensor<i64>, tensor<3xf64>)
  %1 = graph.cross_entropy_backward %x, %labels, %0#2, %four ignore -100 : (tensor<3x3xf64>, tensor<3xi64>, tensor<3xf64>, tensor<f64>) -> tensor<3x3xf64>
  return %0#0, %0#1, %0#2, %1 : tensor<f64>, tensor<i64>, tensor<3xf64>, tensor<3x3xf64>
}

// Hand: lr 0.1, scale 0.5, momentum 0.5, decay 0.5, p 1, g 2, m 4: g' = 1 + 0.5, m' = 2 + 1.5, p' = 1 - 0.35.
// CHECK: // sgd.0: tensor<1xf64> [0.65]
// CHECK: // sgd.1: tensor<1xf64> [3.5]
// CHECK: // sgd.2: tensor<1xf64> [0.85]
func.func @sgd() -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) {
  %p = graph.constant dense<1.0> : tensor<1xf64>
  %g = graph.constant dense<2.0> : tensor<1xf64>
  %m = graph.constant dense<4.0> : tensor<1xf64>
  %s = graph.constant dense<[0.1, 0.5, 0.0, 0.0, 1.0, 0.0]> : tensor<6xf64>
  %0:2 = graph.optimizer_step sgd %p, %g, %s states %m {momentum = 0.5 : f64, weight_decay = 0.5 : f64} : (tensor<1xf64>, tensor<1xf64>, tensor<6xf64>, tensor<1xf64>) -> (tensor<1xf64>, tensor<1xf64>)
  %1 = graph.optimizer_step sgd %p, %g, %s {weight_decay = 0.5 : f64} : (tensor<1xf64>, tensor<1xf64>, tensor<6xf64>) -> tensor<1xf64>
  return %0#0, %0#1, %1 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

// The fifth number of a step that is skipped is 0: parameter and state stay, though the gradient is infinite. With 1 they move.
// CHECK: // skipped.0: tensor<1xf64> [1]
// CHECK: // skipped.1: tensor<1xf64> [4]
// CHECK: // skipped.2: tensor<1xf64> [0.7]
// CHECK: // skipped.3: tensor<1xf64> [3]
func.func @skipped() -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) {
  %p = graph.constant dense<1.0> : tensor<1xf64>
  %infinite = graph.constant dense<0x7FF0000000000000> : tensor<1xf64>
  %g = graph.constant dense<2.0> : tensor<1xf64>
  %m = graph.constant dense<4.0> : tensor<1xf64>
  %s = graph.constant dense<[0.1, 0.5, 0.0, 0.0, 0.0, 0.0]> : tensor<6xf64>
  %t = graph.constant dense<[0.1, 0.5, 0.0, 0.0, 1.0, 0.0]> : tensor<6xf64>
  %0:2 = graph.optimizer_step sgd %p, %infinite, %s states %m {momentum = 0.5 : f64} : (tensor<1xf64>, tensor<1xf64>, tensor<6xf64>, tensor<1xf64>) -> (tensor<1xf64>, tensor<1xf64>)
  %1:2 = graph.optimizer_step sgd %p, %g, %t states %m {momentum = 0.5 : f64} : (tensor<1xf64>, tensor<1xf64>, tensor<6xf64>, tensor<1xf64>) -> (tensor<1xf64>, tensor<1xf64>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

// CHECK: // adam.0: tensor<2xf64> [0.97012, -2.08307]
// CHECK: // adam.1: tensor<2xf64> [0.15, 1]
// CHECK: // adam.2: tensor<2xf64> [0.5625, 3.25]
// CHECK: // adam.3: tensor<2xf64> [0.920179, -1.98238]
// CHECK: // adam.4: tensor<2xf64> [0.1, 1.1]
// CHECK: // adam.5: tensor<2xf64> [0.25, 4]
func.func @adam() -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %p = graph.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %g = graph.constant dense<[2.0, 4.0]> : tensor<2xf64>
  %m = graph.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %v = graph.constant dense<[0.0, 4.0]> : tensor<2xf64>
  %s = graph.constant dense<[0.1, 0.5, 0.2, 0.3, 1.0, 0.0]> : tensor<6xf64>
  %0:3 = graph.optimizer_step adam %p, %g, %s states %m, %v {beta1 = 0.9 : f64, beta2 = 0.75 : f64, eps = 0.01 : f64, weight_decay = 0.5 : f64} : (tensor<2xf64>, tensor<2xf64>, tensor<6xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  %1:3 = graph.optimizer_step adamw %p, %g, %s states %m, %v {beta1 = 0.9 : f64, beta2 = 0.75 : f64, eps = 0.01 : f64, weight_decay = 0.5 : f64} : (tensor<2xf64>, tensor<2xf64>, tensor<6xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// CHECK: // gates.0: tensor<3xf64> [0.268941, 0.5, 0.880797]
// CHECK: // gates.1: tensor<3xf64> [-0.268941, 0, 1.76159]
// CHECK: // gates.2: tensor<3xf64> [0.723295, 5, 10.9078]
func.func @gates() -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %x = graph.constant dense<[-1.0, 0.0, 2.0]> : tensor<3xf64>
  %ten = graph.constant dense<10.0> : tensor<3xf64>
  %0 = graph.sigmoid %x : tensor<3xf64>
  %1 = graph.silu %x : tensor<3xf64>
  %2 = graph.silu_backward %x, %ten : tensor<3xf64>
  return %0, %1, %2 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

// CHECK: // rms_norm.0: tensor<2x3xf64> [0.289683, 1.7381, 4.34524, 0.53612, 3.21672, 0.804181]
// CHECK: // rms_norm.1: tensor<2xf64> [0.289683, 0.26806]
// CHECK: // rms_norm.2: tensor<2x3xf64> [0.318043, -1.07365, 0.576327, -0.500807, 0.10594, 0.553777]
// CHECK: // rms_norm.3: tensor<3xf64> [0.289683, 3.08699, 0.992267]
func.func @rms_norm() -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x3xf64>, tensor<3xf64>) {
  %x = graph.constant dense<[[1.0, 3.0, 5.0], [2.0, 6.0, 1.0]]> : tensor<2x3xf64>
  %w = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %dy = graph.constant dense<[[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]> : tensor<2x3xf64>
  %0:2 = graph.rms_norm %x, %w {epsilon = 0.25 : f64} : (tensor<2x3xf64>, tensor<3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>)
  %1 = graph.rms_norm_backward %x, %w, %0#1, %dy : (tensor<2x3xf64>, tensor<3xf64>, tensor<2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = graph.rms_norm_weight_backward %x, %0#1, %dy : (tensor<2x3xf64>, tensor<2xf64>, tensor<2x3xf64>) -> tensor<3xf64>
  return %0#0, %0#1, %1, %2 : tensor<2x3xf64>, tensor<2xf64>, tensor<2x3xf64>, tensor<3xf64>
}

// Query 1 sees no key: it attends to none, or to all alike. The window keeps query 0 from key 2.
// CHECK: // biased.0: tensor<1x3x1x1xf64> [22.5975, 0, 39.0515]
// CHECK: // biased.1: tensor<1x1x3xf64> [1.26392, -inf, 1.04859]
// CHECK: // biased.2: tensor<1x3x1x1xf64> [12.6894, 23.3333, 39.0515]
// CHECK: // biased.3: tensor<1x1x3xf64> [0.813262, -3.40282e+38, 1.04859]
// CHECK: // biased.4: tensor<1x3x1x1xf64> [10, 0, 39.0515]
func.func @biased() -> (tensor<1x3x1x1xf64>, tensor<1x1x3xf64>, tensor<1x3x1x1xf64>, tensor<1x1x3xf64>, tensor<1x3x1x1xf64>) {
  %q = graph.constant dense<[[[[0.5]], [[1.0]], [[2.0]]]]> : tensor<1x3x1x1xf64>
  %k = graph.constant dense<[[[[1.0]], [[-1.0]], [[0.5]]]]> : tensor<1x3x1x1xf64>
  %v = graph.constant dense<[[[[10.0]], [[20.0]], [[40.0]]]]> : tensor<1x3x1x1xf64>
  %b = graph.constant dense<[[[[true, true, true], [false, false, false], [false, true, true]]]]> : tensor<1x1x3x3xi1>
  %0:2 = graph.attention none %q, %k, %v bias %b scale 1.0 : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x3x3xi1>) -> (tensor<1x3x1x1xf64>, tensor<1x1x3xf64>)
  %1:2 = graph.attention none %q, %k, %v bias %b scale 1.0 {uniform, window = 2 : i64} : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x3x3xi1>) -> (tensor<1x3x1x1xf64>, tensor<1x1x3xf64>)
  %2:2 = graph.attention causal %q, %k, %v bias %b scale 1.0 : (tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x3x1x1xf64>, tensor<1x1x3x3xi1>) -> (tensor<1x3x1x1xf64>, tensor<1x1x3xf64>)
  return %0#0, %0#1, %1#0, %1#1, %2#0 : tensor<1x3x1x1xf64>, tensor<1x1x3xf64>, tensor<1x3x1x1xf64>, tensor<1x1x3xf64>, tensor<1x3x1x1xf64>
}
