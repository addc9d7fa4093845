// Two equal layers share one function per pass; what forward makes and backward needs crosses as a value.
// RUN: xlc-opt %s --xlc-differentiate --canonicalize --xlc-rematerialize-cheap-ops --xlc-outline-units --xlc-verify-staged | FileCheck %s

module attributes {graph.nominal_count = 2 : i64} {
// CHECK: func.func private @layer_F(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<3x3xf32>)
// CHECK: func.func private @head_F
// CHECK: func.func private @head_B
// CHECK: func.func private @layer_B(
// CHECK-NOT: func.func private @layer_F_
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[X:.*]] = call @embed_F
// CHECK: %[[A:.*]] = call @layer_F(%[[X]], %{{.*}}) {{.*}}graph.unit = #graph.unit<"layer", 0>
// CHECK: %[[B:.*]] = call @layer_F(%[[A]], %{{.*}}) {{.*}}graph.unit = #graph.unit<"layer", 1>
// CHECK: call @head_F(%[[B]]
// CHECK: call @head_B
// CHECK: call @layer_B{{.*}}graph.unit = #graph.unit<"layer", 1>
// CHECK: call @layer_B{{.*}}graph.unit = #graph.unit<"layer", 0>
func.func @forward(%w0: tensor<3x3xf32> {graph.param = "w0"}, %w1: tensor<3x3xf32> {graph.param = "w1"}, %e: tensor<2x3xf32> {graph.param = "e"},
                   %labels: tensor<2xi64> {graph.input = "y"}) -> (tensor<f32>, tensor<i64>) {
  %x = graph.tanh %e {graph.unit = #graph.unit<"embed", 0>} : tensor<2x3xf32>
  %0 = graph.contract "ab,bc->ac" %x, %w0 {graph.unit = #graph.unit<"layer", 0>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %1 = graph.tanh %0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x3xf32>
  %2 = graph.contract "ab,bc->ac" %1, %w1 {graph.unit = #graph.unit<"layer", 1>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %3 = graph.tanh %2 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x3xf32>
  %sum, %count, %lse = graph.cross_entropy %3, %labels ignore -100 {graph.unit = #graph.unit<"head", 0>}
      : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
}
