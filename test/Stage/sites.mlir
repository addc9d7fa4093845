// Layers that draw at sites of their own share a function: a site is an argument, and backward draws again what forward drew.
// RUN: xlc-opt %s --xlc-differentiate --canonicalize --xlc-rematerialize-cheap-ops --xlc-outline-units --xlc-verify-staged | FileCheck %s

module attributes {graph.nominal_count = 2 : i64} {
// CHECK: func.func private @layer_F(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<i64>, %{{.*}}: tensor<3x3xf32>)
// CHECK: func.func private @layer_B({{.*}}tensor<i64>, %{{.*}}: tensor<3x3xf32>)
// CHECK: graph.random_bits
// CHECK-NOT: func.func private @layer_F_
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[FIRST:.*]] = graph.site 4
// CHECK: %[[SECOND:.*]] = graph.site 7
// CHECK: call @layer_F(%{{.*}}, %[[FIRST]], %{{.*}}) {{.*}}graph.unit = #graph.unit<"layer", 0>
// CHECK: call @layer_F(%{{.*}}, %[[SECOND]], %{{.*}}) {{.*}}graph.unit = #graph.unit<"layer", 1>
func.func @forward(%w0: tensor<3x3xf32> {graph.param = "w0"}, %w1: tensor<3x3xf32> {graph.param = "w1"}, %e: tensor<2x3xf32> {graph.param = "e"},
                   %labels: tensor<2xi64> {graph.input = "y"}) -> (tensor<f32>, tensor<i64>) {
  %x = graph.tanh %e {graph.unit = #graph.unit<"embed", 0>} : tensor<2x3xf32>
  %0 = graph.contract "ab,bc->ac" %x, %w0 {graph.unit = #graph.unit<"layer", 0>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %i0 = graph.iota dim 1 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x3xi64>
  %k0 = graph.step_number random_key {graph.unit = #graph.unit<"layer", 0>} : tensor<i64>
  %ks0 = graph.broadcast %k0 {graph.unit = #graph.unit<"layer", 0>} : tensor<i64> -> tensor<2x3xi64>
  %s0 = graph.site 4 {graph.unit = #graph.unit<"layer", 0>} : tensor<i64>
  %ss0 = graph.broadcast %s0 {graph.unit = #graph.unit<"layer", 0>} : tensor<i64> -> tensor<2x3xi64>
  %b0 = graph.random_bits %i0, %ks0, %ss0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x3xi32>
  %z0 = graph.constant {graph.unit = #graph.unit<"layer", 0>} dense<0> : tensor<2x3xi32>
  %c0 = graph.compare lt %b0, %z0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x3xi32> -> tensor<2x3xi1>
  %f0 = graph.constant {graph.unit = #graph.unit<"layer", 0>} dense<0.0> : tensor<2x3xf32>
  %1 = graph.select %c0, %0, %f0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x3xi1>, tensor<2x3xf32>
  %2 = graph.contract "ab,bc->ac" %1, %w1 {graph.unit = #graph.unit<"layer", 1>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %i1 = graph.iota dim 1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x3xi64>
  %k1 = graph.step_number random_key {graph.unit = #graph.unit<"layer", 1>} : tensor<i64>
  %ks1 = graph.broadcast %k1 {graph.unit = #graph.unit<"layer", 1>} : tensor<i64> -> tensor<2x3xi64>
  %s1 = graph.site 7 {graph.unit = #graph.unit<"layer", 1>} : tensor<i64>
  %ss1 = graph.broadcast %s1 {graph.unit = #graph.unit<"layer", 1>} : tensor<i64> -> tensor<2x3xi64>
  %b1 = graph.random_bits %i1, %ks1, %ss1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x3xi32>
  %z1 = graph.constant {graph.unit = #graph.unit<"layer", 1>} dense<0> : tensor<2x3xi32>
  %c1 = graph.compare lt %b1, %z1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x3xi32> -> tensor<2x3xi1>
  %f1 = graph.constant {graph.unit = #graph.unit<"layer", 1>} dense<0.0> : tensor<2x3xf32>
  %3 = graph.select %c1, %2, %f1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x3xi1>, tensor<2x3xf32>
  %sum, %count, %lse = graph.cross_entropy %3, %labels ignore -100 {graph.unit = #graph.unit<"head", 0>}
      : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
}
