// A model that repeats nothing is one unit; where a pipeline needs several, each atom with parameters is one.
// RUN: xlc-opt %s --assign-units | FileCheck %s --check-prefix=ONE
// RUN: xlc-opt %s --assign-units=blocks | FileCheck %s

// ONE-COUNT-5: #graph.unit<"model", 0>
// CHECK:      graph.contract {{.*}}#graph.unit<"block", 0>
// CHECK-NEXT: graph.tanh {{.*}}#graph.unit<"block", 0>
// CHECK-NEXT: graph.contract {{.*}}#graph.unit<"block2", 0>
// CHECK-NEXT: graph.add {{.*}}#graph.unit<"block2", 0>
// CHECK-NEXT: graph.reduce {{.*}}#graph.unit<"block2", 0>
func.func @hybrid(%v: tensor<3x4xf32> {graph.param = "v"}, %w: tensor<4x4xf32> {graph.param = "w"},
                  %x: tensor<2x3xf32> {graph.input = "x"}) -> tensor<f32> {
  %0 = graph.contract "ab,bc->ac" %x, %v : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = graph.tanh %0 : tensor<2x4xf32>
  %2 = graph.contract "ab,bc->ac" %1, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %3 = graph.add %1, %2 : tensor<2x4xf32>
  %4 = graph.reduce sum %3 dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %4 : tensor<f32>
}
