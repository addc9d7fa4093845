// Reductions over leading or trailing dimensions are reshaped, those over dimensions amid others transposed first.
// RUN: xlc-opt %s --xlc-normalize-reductions | FileCheck %s

// CHECK-LABEL: @leading
// CHECK: %[[X:.*]] = graph.reshape %{{.*}} : tensor<2x3x4x5xf32> -> tensor<6x20xf32>
// CHECK: %[[Y:.*]] = graph.reduce sum %[[X]] dims [0] : tensor<6x20xf32> -> tensor<20xf32>
// CHECK: graph.reshape %[[Y]] : tensor<20xf32> -> tensor<4x5xf32>
func.func @leading(%x: tensor<2x3x4x5xf32>) -> tensor<4x5xf32> {
  %y = graph.reduce sum %x dims [0, 1] : tensor<2x3x4x5xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// CHECK-LABEL: @trailing
// CHECK: %[[X:.*]] = graph.reshape %{{.*}} : tensor<2x3x4x5xf32> -> tensor<2x3x20xf32>
// CHECK: graph.reduce max %[[X]] dims [2] : tensor<2x3x20xf32> -> tensor<2x3xf32>
func.func @trailing(%x: tensor<2x3x4x5xf32>) -> tensor<2x3xf32> {
  %y = graph.reduce max %x dims [2, 3] : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @amid
// CHECK: %[[X:.*]] = graph.transpose %{{.*}} [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
// CHECK: graph.reduce sum %[[X]] dims [2] : tensor<2x4x3xf32> -> tensor<2x4xf32>
func.func @amid(%x: tensor<2x3x4xf32>) -> tensor<2x4xf32> {
  %y = graph.reduce sum %x dims [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @outer_and_inner
// CHECK: %[[X:.*]] = graph.transpose %{{.*}} [1, 0, 2] : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
// CHECK: %[[Z:.*]] = graph.reshape %[[X]] : tensor<3x2x4xf32> -> tensor<3x8xf32>
// CHECK: graph.reduce sum %[[Z]] dims [1] : tensor<3x8xf32> -> tensor<3xf32>
func.func @outer_and_inner(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %y = graph.reduce sum %x dims [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// To a scalar is a kind of its own; over nothing is nothing.
// CHECK-LABEL: @to_scalar
// CHECK-NEXT: graph.reduce sum %{{.*}} dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
func.func @to_scalar(%x: tensor<2x3xf32>) -> tensor<f32> {
  %y = graph.reduce sum %x dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %y : tensor<f32>
}
// CHECK-LABEL: @over_nothing
// CHECK-NEXT: return %arg0
func.func @over_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = graph.reduce sum %x dims [] : tensor<2x3xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// A scatter goes along dimension 0.
// CHECK-LABEL: @scatter
// CHECK: %[[U:.*]] = graph.transpose %{{.*}} [1, 2, 0] : tensor<5x2x3xf32> -> tensor<2x3x5xf32>
// CHECK: %[[S:.*]] = graph.scatter_add %{{.*}}, %[[U]] dim 0 : (tensor<2x3xi64>, tensor<2x3x5xf32>) -> tensor<7x5xf32>
// CHECK: graph.transpose %[[S]] [1, 0] : tensor<7x5xf32> -> tensor<5x7xf32>
func.func @scatter(%i: tensor<2x3xi64>, %x: tensor<5x2x3xf32>) -> tensor<5x7xf32> {
  %y = graph.scatter_add %i, %x dim 1 : (tensor<2x3xi64>, tensor<5x2x3xf32>) -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// Cross-entropy is a kernel over rows and one over all.
// CHECK-LABEL: @loss
// CHECK-NOT: graph.cross_entropy
// CHECK: graph.reduce sum %{{.*}} dims [1] : tensor<2x3xf32> -> tensor<2xf32>
// CHECK: graph.reduce sum %{{.*}} dims [0] : tensor<2xf32> -> tensor<f32>
func.func @loss(%x: tensor<2x3xf32>, %y: tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>) {
  %sum, %count, %lse = graph.cross_entropy %x, %y ignore -100 : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  return %sum, %count, %lse : tensor<f32>, tensor<i64>, tensor<2xf32>
}

// Letters that are summed lie together at the end of both operands, in one order.
// CHECK-LABEL: @contract
// CHECK-NEXT: %[[B:.*]] = graph.transpose %{{.*}} [1, 0, 2] : tensor<3x5x4xf32> -> tensor<5x3x4xf32>
// CHECK: graph.contract "abc,dbc->ad" %arg0, %[[B]]
func.func @contract(%x: tensor<2x3x4xf32>, %w: tensor<3x5x4xf32>) -> tensor<2x5xf32> {
  %y = graph.contract "abc,bdc->ad" %x, %w : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: @contract_that_fits
// CHECK-NEXT: graph.contract "abc,abd->cd" %arg0, %arg1
func.func @contract_that_fits(%x: tensor<2x3x4xf32>, %w: tensor<2x3x5xf32>) -> tensor<4x5xf32> {
  %y = graph.contract "abc,abd->cd" %x, %w : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
