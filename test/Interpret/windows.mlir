// Convolutions and pools on numbers that one can follow.
// RUN: xlc-opt --xlc-interpret %s | FileCheck %s

// Windows hang over both edges by one.
// CHECK: // one_channel.0: tensor<1x1x3xf64> [4, 8, 8]
// CHECK: // one_channel.1: tensor<1x1x3xf64> [12, 121, 210]
// CHECK: // one_channel.2: tensor<1x1x3xf64> [210, 321, 32]
func.func @one_channel() -> (tensor<1x1x3xf64>, tensor<1x1x3xf64>, tensor<1x1x3xf64>) {
  %x = graph.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf64>
  %w = graph.constant dense<[[[1.0, 2.0, 1.0]]]> : tensor<1x1x3xf64>
  %dy = graph.constant dense<[[[1.0, 10.0, 100.0]]]> : tensor<1x1x3xf64>
  %0 = graph.convolution %x, %w groups 1 by [1] dilations [1] pads [1] : (tensor<1x1x3xf64>, tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  %1 = graph.convolution_transpose %dy, %w groups 1 by [1] dilations [1] pads [1] : (tensor<1x1x3xf64>, tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  %2 = graph.convolution_weight_backward %x, %dy groups 1 by [1] dilations [1] pads [1] : (tensor<1x1x3xf64>, tensor<1x1x3xf64>) -> tensor<1x1x3xf64>
  return %0, %1, %2 : tensor<1x1x3xf64>, tensor<1x1x3xf64>, tensor<1x1x3xf64>
}

// Each group sees its own channel; the second weight stands two elements on.
// CHECK: // groups.0: tensor<1x2x2xf64> [31, 42, 705, 806]
func.func @groups() -> tensor<1x2x2xf64> {
  %x = graph.constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf64>
  %w = graph.constant dense<[[[1.0, 10.0]], [[1.0, 100.0]]]> : tensor<2x1x2xf64>
  %y = graph.convolution %x, %w groups 2 by [1] dilations [2] pads [0] : (tensor<1x2x4xf64>, tensor<2x1x2xf64>) -> tensor<1x2x2xf64>
  return %y : tensor<1x2x2xf64>
}

// Of equal elements the first one gets the gradient; padding is no element.
// CHECK: // pool.0: tensor<1x1x4xf64> [3, 3, 3, -1]
// CHECK: // pool.1: tensor<1x1x3xf64> [11, 100, 1000]
func.func @pool() -> (tensor<1x1x4xf64>, tensor<1x1x3xf64>) {
  %x = graph.constant dense<[[[3.0, 3.0, -1.0]]]> : tensor<1x1x3xf64>
  %dy = graph.constant dense<[[[1.0, 10.0, 100.0, 1000.0]]]> : tensor<1x1x4xf64>
  %0 = graph.max_pool %x window [2] by [1] dilations [1] pads [1] : (tensor<1x1x3xf64>) -> tensor<1x1x4xf64>
  %1 = graph.max_pool_backward %x, %dy window [2] by [1] dilations [1] pads [1] : (tensor<1x1x3xf64>, tensor<1x1x4xf64>) -> tensor<1x1x3xf64>
  return %0, %1 : tensor<1x1x4xf64>, tensor<1x1x3xf64>
}
