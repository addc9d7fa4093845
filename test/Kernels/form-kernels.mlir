// Which ops make one kernel, and which are none.
// RUN: xlc-opt %s --xlc-form-kernels | FileCheck %s

// A product takes its bias along, whichever operand of the addition it is; the activation is a loop of its own.
// CHECK-LABEL: func.func private @kernel_0({{.*}}exec.kind = #exec.kernel<library>
// CHECK: graph.contract
// CHECK: graph.add
// CHECK-LABEL: func.func private @kernel_1({{.*}}exec.kind = #exec.kernel<loop>
// CHECK: graph.gelu
// CHECK-LABEL: func.func private @bias
// CHECK-NEXT: call @kernel_0(%arg0, %arg1, %arg2)
// CHECK-NEXT: call @kernel_1
func.func private @bias(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  %1 = graph.broadcast %b : tensor<5xf32> -> tensor<4x5xf32>
  %2 = graph.add %1, %0 : tensor<4x5xf32>
  %3 = graph.gelu tanh %2 : tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}

// A norm is one kernel over rows with the addition before it. Results that nobody reads are not written.
// CHECK-LABEL: func.func private @kernel_2({{.*}} -> (tensor<4x6xf32>, tensor<4x6xf32>) attributes {exec.kind = #exec.kernel<rows>}
// CHECK: graph.add
// CHECK: graph.layer_norm
func.func private @rows(%x: tensor<4x6xf32>, %r: tensor<4x6xf32>, %w: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = graph.add %x, %r : tensor<4x6xf32>
  %y, %m, %s = graph.layer_norm %0, %w, %b {epsilon = 1.0e-5 : f64} : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0, %y : tensor<4x6xf32>, tensor<4x6xf32>
}

// What a row's reductions yield is repeated along the row within one kernel.
// CHECK-LABEL: func.func private @kernel_3({{.*}}exec.kind = #exec.kernel<rows>
// CHECK: graph.reduce  max
// CHECK: graph.reduce  sum
// CHECK: graph.div
func.func private @softmax(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = graph.reduce max %x dims [1] : tensor<4x6xf32> -> tensor<4xf32>
  %1 = graph.reshape %0 : tensor<4xf32> -> tensor<4x1xf32>
  %2 = graph.broadcast %1 : tensor<4x1xf32> -> tensor<4x6xf32>
  %3 = graph.sub %x, %2 : tensor<4x6xf32>
  %4 = graph.exp %3 : tensor<4x6xf32>
  %5 = graph.reduce sum %4 dims [1] : tensor<4x6xf32> -> tensor<4xf32>
  %6 = graph.reshape %5 : tensor<4xf32> -> tensor<4x1xf32>
  %7 = graph.broadcast %6 : tensor<4x1xf32> -> tensor<4x6xf32>
  %8 = graph.div %4, %7 : tensor<4x6xf32>
  return %8 : tensor<4x6xf32>
}

// Operands of a concat that are made here are written in place: the concat is no kernel.
// CHECK-LABEL: func.func private @concat(
// CHECK-NEXT: %[[A:.*]] = call
// CHECK-NEXT: %[[B:.*]] = call
// CHECK-NEXT: graph.concat %[[A]], %[[B]]
func.func private @concat(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) -> tensor<4x5xf32> {
  %0 = graph.tanh %x : tensor<4x3xf32>
  %1 = graph.exp %y : tensor<4x2xf32>
  %2 = graph.concat %0, %1 dim 1 : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}

// Arguments stand where they are: the concat copies them.
// CHECK: exec.kind = #exec.kernel<loop>
// CHECK-NEXT: graph.concat
// CHECK-LABEL: func.func private @concat_of_arguments(
// CHECK-NEXT: call
// CHECK-NEXT: return
func.func private @concat_of_arguments(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) -> tensor<4x5xf32> {
  %2 = graph.concat %x, %y dim 1 : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}

// Slices and transposes are strides of what is there.
// CHECK-LABEL: func.func private @views(
// CHECK-NEXT: graph.slice %arg0
// CHECK-NEXT: %[[V:.*]] = graph.transpose
// CHECK-NEXT: call @{{.*}}(%[[V]])
func.func private @views(%x: tensor<4x6xf32>) -> tensor<2x4xf32> {
  %0 = graph.slice %x from [0, 2] by [1, 1] : tensor<4x6xf32> -> tensor<4x2xf32>
  %1 = graph.transpose %0 [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
  %2 = graph.tanh %1 : tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// What a function returns is memory of its own: arguments and views of them are copied.
// CHECK: graph.cast %arg0 : tensor<4x6xf32> -> tensor<4x6xf32>
// CHECK: graph.cast %arg0 : tensor<24xf32> -> tensor<24xf32>
// CHECK-LABEL: func.func private @argument(
func.func private @argument(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<24xf32>) {
  %0 = graph.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  return %x, %0 : tensor<4x6xf32>, tensor<24xf32>
}

// Sums over rows and sums to a scalar are kinds of their own.
// CHECK: exec.kind = #exec.kernel<columns>
// CHECK-NEXT: graph.reduce  sum %arg0 dims [0]
// CHECK: exec.kind = #exec.kernel<all>
// CHECK-NEXT: graph.reduce  sum %arg0 dims [0, 1]
func.func private @columns(%x: tensor<4x6xf32>) -> (tensor<6xf32>, tensor<f32>) {
  %0 = graph.tanh %x : tensor<4x6xf32>
  %1 = graph.reduce sum %0 dims [0] : tensor<4x6xf32> -> tensor<6xf32>
  %2 = graph.reduce sum %0 dims [0, 1] : tensor<4x6xf32> -> tensor<f32>
  return %1, %2 : tensor<6xf32>, tensor<f32>
}

// Equal kernels are one function.
// CHECK-LABEL: func.func private @equal(
// CHECK-NEXT: call @[[F:.*]](%arg0, %arg0)
// CHECK-NEXT: call @[[G:.*]](%0, %arg0)
// CHECK-NEXT: call @[[F]](%1, %1)
// CHECK-NEXT: call @[[G]](%2, %1)
func.func private @equal(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = graph.contract "ab,cb->ac" %x, %x : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %1 = graph.contract "ab,bc->ac" %0, %x : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = graph.contract "ab,cb->ac" %1, %1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %3 = graph.contract "ab,bc->ac" %2, %1 : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

// A library that writes one run of memory only: its result is copied into the concat. With one sample it is one run.
// CHECK-LABEL: func.func private @joined_images(
// CHECK-NEXT: %[[Y:.*]] = call @{{.*}}(%arg0, %arg1)
// CHECK-NEXT: %[[Z:.*]] = call
// CHECK-NEXT: %[[COPY:.*]] = call @{{.*}}(%[[Y]])
// CHECK-NEXT: graph.concat %[[COPY]], %[[Z]]
func.func private @joined_images(%x: tensor<2x3x4x4xf32>, %w: tensor<5x3x1x1xf32>) -> tensor<2x8x4x4xf32> {
  %y = graph.convolution %x, %w groups 1 by [1, 1] dilations [1, 1] pads [0, 0] : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<2x5x4x4xf32>
  %z = graph.tanh %x : tensor<2x3x4x4xf32>
  %0 = graph.concat %y, %z dim 1 : (tensor<2x5x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x8x4x4xf32>
  return %0 : tensor<2x8x4x4xf32>
}

// CHECK-LABEL: func.func private @joined_image(
// CHECK-NEXT: %[[Y:.*]] = call @{{.*}}(%arg0, %arg1)
// CHECK-NEXT: %[[Z:.*]] = call
// CHECK-NEXT: graph.concat %[[Y]], %[[Z]]
func.func private @joined_image(%x: tensor<1x3x4x4xf32>, %w: tensor<5x3x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %y = graph.convolution %x, %w groups 1 by [1, 1] dilations [1, 1] pads [0, 0] : (tensor<1x3x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<1x5x4x4xf32>
  %z = graph.tanh %x : tensor<1x3x4x4xf32>
  %0 = graph.concat %y, %z dim 1 : (tensor<1x5x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %0 : tensor<1x8x4x4xf32>
}

// Of sixteen bits the library adds the bias to its sum in f32 and rounds that: what widens and what rounds are the call's.
// CHECK-LABEL: func.func private @kernel_{{[0-9]+}}({{.*}}tensor<5xbf16>) -> tensor<4x5xbf16> attributes {exec.kind = #exec.kernel<library>}
// CHECK: graph.contract {{.*}} -> tensor<4x5xf32>
// CHECK: graph.add
// CHECK-NEXT: graph.cast {{.*}} -> tensor<4x5xbf16>
// CHECK-LABEL: func.func private @narrow_bias
// CHECK-NEXT: call @kernel_
// CHECK-NEXT: return
func.func private @narrow_bias(%x: tensor<4x3xbf16>, %w: tensor<3x5xbf16>, %b: tensor<5xbf16>) -> tensor<4x5xbf16> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<4x3xbf16>, tensor<3x5xbf16>) -> tensor<4x5xf32>
  %1 = graph.broadcast %b : tensor<5xbf16> -> tensor<4x5xbf16>
  %2 = graph.cast %1 : tensor<4x5xbf16> -> tensor<4x5xf32>
  %3 = graph.add %0, %2 : tensor<4x5xf32>
  %4 = graph.cast %3 : tensor<4x5xf32> -> tensor<4x5xbf16>
  return %4 : tensor<4x5xbf16>
}
