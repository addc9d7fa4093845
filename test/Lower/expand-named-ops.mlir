// RUN: xlc-opt %s --xlc-expand-named-ops | FileCheck %s

// A factor is a product with a constant.
// CHECK-LABEL: func.func private @scale
// CHECK: %[[C:.*]] = graph.constant dense<2.500000e-01> : tensor<8xf32>
// CHECK: graph.mul %arg0, %[[C]]
func.func private @scale(%x: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.scale %x by 1 over 4 : tensor<8xf32>
  return %y : tensor<8xf32>
}

// The maximum is subtracted before exp.
// CHECK-LABEL: func.func private @softmax
// CHECK: graph.reduce max %arg0 dims [1]
// CHECK: graph.sub %arg0
// CHECK: %[[P:.*]] = graph.exp
// CHECK: graph.reduce sum %[[P]] dims [1]
// CHECK: graph.div %[[P]]
func.func private @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %y = graph.softmax %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// What nobody asked for is not computed: here the count and the sum of the losses.
// CHECK-LABEL: func.func private @lse
// CHECK-NOT: graph.gather
// CHECK: graph.log
// CHECK-NOT: graph.gather
// CHECK: return
func.func private @lse(%x: tensor<4x8xf32>, %l: tensor<4xi64>) -> tensor<4xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %s, %c, %y = graph.cross_entropy %x, %l ignore -100 : (tensor<4x8xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<i64>, tensor<4xf32>)
  return %y : tensor<4xf32>
}

// A library call keeps its op.
// CHECK-LABEL: func.func private @library
// CHECK: graph.scale
func.func private @library(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "mk,kn->mn" %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %z = graph.scale %y by 1 over 4 : tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}
