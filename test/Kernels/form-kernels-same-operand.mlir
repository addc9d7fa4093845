// A library call has an argument for each operand, also where two of them are one value: x times its own transpose.
// RUN: xlc-opt %s --xlc-form-kernels | FileCheck %s
// CHECK: func.func private @[[K:kernel_[0-9]+]](%[[A:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<4x3xf32>) -> tensor<4x4xf32> attributes {exec.kind = #exec.kernel<library>}
// CHECK: graph.contract "ab,cb->ac" %[[A]], %[[B]]
// CHECK: func.func private @layer_F(%[[X:.*]]: tensor<4x3xf32>)
// CHECK: call @[[K]](%[[X]], %[[X]])
func.func private @layer_F(%x: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %y = graph.contract "ab,cb->ac" %x, %x {graph.role = #graph.role<F>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
