// The residual stream in f32: a sum of two activations is not rounded, nor is a norm that such a sum reads. Each product rounds
// for itself what it reads of it, in forward and again in backward.
// RUN: xlc-opt %s --xlc-insert-casts=wide-stream --xlc-verify-precision | FileCheck %s
// RUN: xlc-opt %s --xlc-insert-casts --xlc-verify-precision | FileCheck %s --check-prefix=NARROW
// NARROW: %[[SUM:.*]] = graph.add
// NARROW-NEXT: graph.cast %[[SUM]] {{.*}} -> tensor<2x4xbf16>

// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[H:.*]] = graph.contract {{.*}} -> tensor<2x4xbf16>
// A bias is no activation: that sum is of the block, and rounded where it is read twice.
// CHECK: %[[BIASED:.*]] = graph.add
// CHECK-NEXT: %[[BN:.*]] = graph.cast %[[BIASED]] {{.*}} -> tensor<2x4xbf16>
// CHECK: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.layer_norm
// CHECK-NOT: graph.cast %[[Y]]
// CHECK: %[[S:.*]] = graph.add %[[Y]], %{{.*}} : tensor<2x4xf32>
// CHECK: %[[SF:.*]] = graph.cast %[[S]] {graph.role = #graph.role<F>} : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK: graph.contract "ab,bc->ac" %[[SF]]
// CHECK: %[[SB:.*]] = graph.cast %[[S]] {graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK: graph.contract "ab,ac->bc" %[[SB]]
func.func @micro_batch(%w: tensor<4x4xf32> {graph.param = "w"}, %b: tensor<4xf32> {graph.param = "b"}, %x: tensor<2x4xf32> {graph.input = "x"})
    -> (tensor<f32>, tensor<4x4xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %h = graph.contract "ab,bc->ac" %x, %w {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %bias = graph.broadcast %b {graph.role = #graph.role<F>} : tensor<4xf32> -> tensor<2x4xf32>
  %biased = graph.add %h, %bias {graph.role = #graph.role<F>} : tensor<2x4xf32>
  %y, %mean, %rstd = graph.layer_norm %biased, %b, %b {epsilon = 1.0e-5 : f64, graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>)
  %s = graph.add %y, %biased {graph.role = #graph.role<F>} : tensor<2x4xf32>
  %z = graph.contract "ab,bc->ac" %s, %w {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = graph.reduce sum %z dims [0, 1] {graph.role = #graph.role<F>} : tensor<2x4xf32> -> tensor<f32>
  %dw = graph.contract "ab,ac->bc" %s, %z {graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %loss, %dw : tensor<f32>, tensor<4x4xf32>
}
func.func @update(%w: tensor<4x4xf32> {graph.param = "w"}, %b: tensor<4xf32> {graph.param = "b"}, %dw: tensor<4x4xf32> {graph.grad = "w"}) {
  return
}
