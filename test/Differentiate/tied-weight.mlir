// A weight that two units use has a contribution from each, in the order of backward; within a unit they add up.
// RUN: xlc-opt %s --xlc-differentiate --cse | FileCheck %s
// CHECK: func.func @micro_batch({{.*}}) -> (tensor<f32>, tensor<i64>, tensor<2xf32> {graph.grad = "w"}, tensor<2xf32> {graph.grad = "w"})
// CHECK: %[[A:.*]] = graph.mul {{.*}} {graph.role = #graph.role<W>, graph.unit = #graph.unit<"head", 0>}
// CHECK: %[[B:.*]] = graph.mul {{.*}} {graph.role = #graph.role<W>, graph.unit = #graph.unit<"head", 0>}
// CHECK: %[[EMBED:.*]] = graph.mul {{.*}} {graph.role = #graph.role<W>, graph.unit = #graph.unit<"embed", 0>}
// CHECK: %[[HEAD:.*]] = graph.add %[[A]], %[[B]] {graph.role = #graph.role<W>, graph.unit = #graph.unit<"head", 0>}
// CHECK: return %{{.*}}, %{{.*}}, %[[HEAD]], %[[EMBED]]
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<2xf32> {graph.param = "w"}, %x: tensor<2xf32> {graph.input = "x"}) -> (tensor<f32>, tensor<i64>) {
  %0 = graph.mul %x, %w {graph.unit = #graph.unit<"embed", 0>} : tensor<2xf32>
  %1 = graph.mul %0, %w {graph.unit = #graph.unit<"head", 0>} : tensor<2xf32>
  %2 = graph.mul %1, %w {graph.unit = #graph.unit<"head", 0>} : tensor<2xf32>
  %3 = graph.reduce sum %2 dims [0] {graph.unit = #graph.unit<"head", 0>} : tensor<2xf32> -> tensor<f32>
  %c = graph.constant {graph.unit = #graph.unit<"head", 0>} dense<1> : tensor<i64>
  return %3, %c : tensor<f32>, tensor<i64>
}
}
