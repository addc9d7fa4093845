// What Differentiate needs, and what its gate refuses.
// RUN: xlc-opt %s --xlc-differentiate --split-input-file --verify-diagnostics

// expected-error @+1 {{differentiation needs a function @forward and the module attribute graph.nominal_count}}
module {
}

// -----

module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%x: tensor<1x1x3xf32> {graph.param = "x"}) -> (tensor<f32>, tensor<i64>) {
  // expected-error @+1 {{'graph.convolution_weight_backward' has no row in the gradient table}}
  %y = graph.convolution_weight_backward %x, %x groups 1 by [1] dilations [1] pads [1] : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %l = graph.reduce sum %y dims [0, 1, 2] : tensor<1x1x3xf32> -> tensor<f32>
  %c = graph.constant dense<1> : tensor<i64>
  return %l, %c : tensor<f32>, tensor<i64>
}
}
