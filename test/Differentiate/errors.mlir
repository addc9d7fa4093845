// What Differentiate needs, and what its gate refuses.
// RUN: xlc-opt %s --xlc-differentiate --split-input-file --verify-diagnostics

// expected-error @+1 {{needs a function @forward and a module attribute graph.nominal_count}}
module {
}

// -----

module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<2xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %t = graph.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{'graph.optimizer_step' has no row in the gradient table}}
  %n = graph.optimizer_step sgd %w, %w, %t : (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %l = graph.reduce sum %n dims [0] : tensor<2xf32> -> tensor<f32>
  %c = graph.constant dense<1> : tensor<i64>
  return %l, %c : tensor<f32>, tensor<i64>
}
}
