// Where cuDNN takes convolutions of sixteen bits nothing is widened for them, and the gradient of weights is rounded once. What it does not
// take, in three dimensions or not rounded behind, stays as it is, and so do those of CPUs.
// RUN: xlc-opt --xlc-target=cuda:sm_90 %s --split-input-file --xlc-narrow-convolutions | FileCheck %s
// RUN: xlc-opt %s --split-input-file --xlc-narrow-convolutions | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: func.func @micro_batch
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<2x3x8x8xbf16>, %[[W:[a-z0-9]*]]: tensor<4x3x3x3xbf16>, %[[DY:[a-z0-9]*]]: tensor<2x4x8x8xbf16>
// CHECK-NEXT:    %[[Y:.*]] = graph.convolution %[[X]], %[[W]] {{.*}} -> tensor<2x4x8x8xbf16>
// CHECK-NEXT:    %[[DX:.*]] = graph.convolution_transpose %[[DY]], %[[W]] {{.*}} -> tensor<2x3x8x8xbf16>
// CHECK-NEXT:    %[[N:.*]] = graph.convolution_weight_backward %[[X]], %[[DY]] {{.*}}graph.role = #graph.role<B>, graph.unit = #graph.unit<"conv", 0>{{.*}} -> tensor<4x3x3x3xbf16>
// CHECK-NEXT:    %[[DW:.*]] = graph.cast %[[N]] {graph.role = #graph.role<B>, graph.unit = #graph.unit<"conv", 0>} : tensor<4x3x3x3xbf16> -> tensor<4x3x3x3xf32>
// CHECK-NEXT:    return %[[Y]], %[[DX]], %[[DW]]
// CPU-LABEL:     func.func @micro_batch
// CPU:             graph.convolution {{.*}} -> tensor<2x4x8x8xf32>
// CPU:             graph.convolution_transpose {{.*}} -> tensor<2x3x8x8xf32>
// CPU:             graph.convolution_weight_backward {{.*}} -> tensor<4x3x3x3xf32>
func.func @micro_batch(%x: tensor<2x3x8x8xbf16>, %w: tensor<4x3x3x3xbf16>, %dy: tensor<2x4x8x8xbf16>)
    -> (tensor<2x4x8x8xbf16>, tensor<2x3x8x8xbf16>, tensor<4x3x3x3xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.cast %x : tensor<2x3x8x8xbf16> -> tensor<2x3x8x8xf32>
  %1 = graph.cast %w : tensor<4x3x3x3xbf16> -> tensor<4x3x3x3xf32>
  %2 = graph.convolution %0, %1 groups 1 by [1, 1] dilations [1, 1] pads [1, 1] : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  %y = graph.cast %2 : tensor<2x4x8x8xf32> -> tensor<2x4x8x8xbf16>
  %3 = graph.cast %dy : tensor<2x4x8x8xbf16> -> tensor<2x4x8x8xf32>
  %4 = graph.convolution_transpose %3, %1 groups 1 by [1, 1] dilations [1, 1] pads [1, 1] : (tensor<2x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x3x8x8xf32>
  %dx = graph.cast %4 : tensor<2x3x8x8xf32> -> tensor<2x3x8x8xbf16>
  %dw = graph.convolution_weight_backward %0, %3 groups 1 by [1, 1] dilations [1, 1] pads [1, 1] {graph.role = #graph.role<B>, graph.unit = #graph.unit<"conv", 0>} : (tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<4x3x3x3xf32>
  return %y, %dx, %dw : tensor<2x4x8x8xbf16>, tensor<2x3x8x8xbf16>, tensor<4x3x3x3xf32>
}

// -----

// A volume; and a sum that is read in f32.
// CHECK-LABEL: func.func @micro_batch
// CHECK:         graph.convolution {{.*}} -> tensor<1x1x4x4x4xf32>
// CHECK:         graph.convolution {{.*}} -> tensor<1x1x6xf32>
func.func @micro_batch(%x: tensor<1x1x4x4x4xf16>, %w: tensor<1x1x1x1x1xf16>, %s: tensor<1x1x8xf16>, %v: tensor<1x1x3xf16>)
    -> (tensor<1x1x4x4x4xf16>, tensor<1x1x6xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.cast %x : tensor<1x1x4x4x4xf16> -> tensor<1x1x4x4x4xf32>
  %1 = graph.cast %w : tensor<1x1x1x1x1xf16> -> tensor<1x1x1x1x1xf32>
  %2 = graph.convolution %0, %1 groups 1 by [1, 1, 1] dilations [1, 1, 1] pads [0, 0, 0] : (tensor<1x1x4x4x4xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x1x4x4x4xf32>
  %y = graph.cast %2 : tensor<1x1x4x4x4xf32> -> tensor<1x1x4x4x4xf16>
  %3 = graph.cast %s : tensor<1x1x8xf16> -> tensor<1x1x8xf32>
  %4 = graph.cast %v : tensor<1x1x3xf16> -> tensor<1x1x3xf32>
  %z = graph.convolution %3, %4 groups 1 by [1] dilations [1] pads [0] : (tensor<1x1x8xf32>, tensor<1x1x3xf32>) -> tensor<1x1x6xf32>
  return %y, %z : tensor<1x1x4x4x4xf16>, tensor<1x1x6xf32>
}
