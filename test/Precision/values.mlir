// What stays f32: statistics and constants until they meet an activation; a gradient that another product reads.
// RUN: xlc-opt %s --xlc-insert-casts --split-input-file | FileCheck %s

// A norm of small ops: the mean of each row, and what follows from it alone, is not rounded; what is normalised is.
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[MEAN:.*]] = graph.reduce sum
// CHECK-NEXT: %[[ROOT:.*]] = graph.sqrt %[[MEAN]]
// CHECK-NEXT: %[[ALONG:.*]] = graph.reshape %[[ROOT]]
// CHECK-NEXT: %[[BROAD:.*]] = graph.broadcast %[[ALONG]]
// CHECK: %[[DIV:.*]] = graph.div %{{.*}}, %[[BROAD]]
// CHECK-NEXT: graph.cast %[[DIV]] {{.*}} -> tensor<2x4xbf16>
func.func @micro_batch(%w: tensor<4x4xf32> {graph.param = "w"}, %x: tensor<2x4xf32> {graph.input = "x"}) -> tensor<f32> attributes {graph.entry = #graph.purpose<train>} {
  %mean = graph.reduce sum %x dims [1] {graph.role = #graph.role<F>} : tensor<2x4xf32> -> tensor<2xf32>
  %root = graph.sqrt %mean {graph.role = #graph.role<F>} : tensor<2xf32>
  %along = graph.reshape %root {graph.role = #graph.role<F>} : tensor<2xf32> -> tensor<2x1xf32>
  %broad = graph.broadcast %along {graph.role = #graph.role<F>} : tensor<2x1xf32> -> tensor<2x4xf32>
  %div = graph.div %x, %broad {graph.role = #graph.role<F>} : tensor<2x4xf32>
  %y = graph.contract "ab,bc->ac" %div, %w {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %sum = graph.reduce sum %y dims [0, 1] {graph.role = #graph.role<F>} : tensor<2x4xf32> -> tensor<f32>
  return %sum : tensor<f32>
}

// -----

// LoRA: a product is the gradient of one parameter, whole, and an operand of the gradient of another, rounded.
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[DW:.*]] = graph.contract "ab,ac->bc" {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[ROUNDED:.*]] = graph.cast %[[DW]] {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[DA:.*]] = graph.contract "bc,dc->bd" %[[ROUNDED]], {{.*}} -> tensor<4x4xf32>
// CHECK: return %[[DW]], %[[DA]]
func.func @micro_batch(%b: tensor<4x4xf32> {graph.param = "b"}, %x: tensor<2x4xf32> {graph.input = "x"}, %dy: tensor<2x4xf32> {graph.input = "dy"})
    -> (tensor<4x4xf32> {graph.grad = "w"}, tensor<4x4xf32> {graph.grad = "a"}) attributes {graph.entry = #graph.purpose<train>} {
  %dw = graph.contract "ab,ac->bc" %x, %dy {graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %da = graph.contract "bc,dc->bd" %dw, %b {graph.role = #graph.role<W>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %dw, %da : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// What depends on integers alone (a table of angles) stays f32 until it meets an activation.
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[COS:.*]] = graph.cos
// CHECK-NOT: graph.cast %[[COS]]
// CHECK: graph.mul %{{.*}}, %[[COS]]
func.func @micro_batch(%w: tensor<4x4xf32> {graph.param = "w"}, %at: tensor<2x4xi64> {graph.input = "at"}, %x: tensor<2x4xf32> {graph.input = "x"}) -> tensor<f32> attributes {graph.entry = #graph.purpose<train>} {
  %angle = graph.cast %at {graph.role = #graph.role<F>} : tensor<2x4xi64> -> tensor<2x4xf32>
  %cos = graph.cos %angle {graph.role = #graph.role<F>} : tensor<2x4xf32>
  %turned = graph.mul %x, %cos {graph.role = #graph.role<F>} : tensor<2x4xf32>
  %again = graph.mul %turned, %cos {graph.role = #graph.role<F>} : tensor<2x4xf32>
  %y = graph.contract "ab,bc->ac" %again, %w {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %sum = graph.reduce sum %y dims [0, 1] {graph.role = #graph.role<F>} : tensor<2x4xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
