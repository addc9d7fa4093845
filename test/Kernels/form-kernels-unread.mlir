// What each of its readers computes for itself is no kernel: a broadcast whose transpose is copied for a library.
// RUN: xlc-opt %s --xlc-form-kernels | FileCheck %s
// CHECK-NOT: func.func private @kernel_{{[0-9]+}}({{[^)]*}}) attributes
// CHECK: func.func private @layer_B
// CHECK-COUNT-2: call @kernel_
// CHECK: return
func.func private @layer_B(%g: tensor<1x1x1xf32>, %i: tensor<2xi64>) -> tensor<2x1x3xf32> {
  %b = graph.broadcast %g {graph.role = #graph.role<I>} : tensor<1x1x1xf32> -> tensor<1x3x2xf32>
  %t = graph.transpose %b [2, 0, 1] {graph.role = #graph.role<I>} : tensor<1x3x2xf32> -> tensor<2x1x3xf32>
  %y = graph.scatter_add %i, %t dim 0 {graph.role = #graph.role<I>} : (tensor<2xi64>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  return %y : tensor<2x1x3xf32>
}
