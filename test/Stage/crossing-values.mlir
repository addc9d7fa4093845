// What an encoder made is read by every decoder layer: one value crosses them all, and its gradient grows from the last
// layer to the first, each adding its own contribution to what came from behind.
// RUN: xlc-opt %s --assign-units --xlc-differentiate --cse --xlc-outline-units --xlc-verify-staged | FileCheck %s

module attributes {graph.nominal_count = 2 : i64} {
// The last layer begins the gradient of %memory, the others take it and give it on with their own part added.
// CHECK: func.func private @layer_B(
// CHECK: %[[MINE:.*]] = graph.mul %arg0, %arg2
// CHECK: return %[[MINE]], %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>
// CHECK: func.func private @layer_B_1(
// CHECK: %[[OWN:.*]] = graph.mul %arg0, %arg2
// CHECK: %[[SUM:.*]] = graph.add %arg4, %[[OWN]]
// CHECK: return %{{.*}}, %[[SUM]], %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[EMBED:.*]]:{{.*}} = call @embed_F
// CHECK: call @layer_F(%[[EMBED]]#1, %[[EMBED]]#0,
// CHECK: call @layer_F(%{{[^,]*}}, %[[EMBED]]#0,
// CHECK: call @layer_F(%{{[^,]*}}, %[[EMBED]]#0,
// CHECK: %[[LAST:.*]]:3 = call @layer_B(
// CHECK: %[[MIDDLE:.*]]:3 = call @layer_B_1({{.*}}%[[LAST]]#0
// CHECK: %[[FIRST:.*]]:3 = call @layer_B_1({{.*}}%[[MIDDLE]]#1
// CHECK: call @embed_B({{.*}}%[[FIRST]]#1
func.func @forward(%w0: tensor<4x4xf32> {graph.param = "w0"}, %w1: tensor<4x4xf32> {graph.param = "w1"},
                   %w2: tensor<4x4xf32> {graph.param = "w2"}, %e: tensor<8x4xf32> {graph.param = "e"},
                   %ids: tensor<2xi64> {graph.input = "ids"}, %labels: tensor<2xi64> {graph.input = "y"})
                  -> (tensor<f32>, tensor<i64>) {
  %x = graph.gather %e, %ids dim 0 : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %memory = graph.tanh %x : tensor<2x4xf32>
  %x0 = graph.neg %memory : tensor<2x4xf32>
  %y0 = graph.contract "ab,bc->ac" %x0, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z0 = graph.mul %y0, %memory : tensor<2x4xf32>
  %x1 = graph.add %x0, %z0 : tensor<2x4xf32>
  %y1 = graph.contract "ab,bc->ac" %x1, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z1 = graph.mul %y1, %memory : tensor<2x4xf32>
  %x2 = graph.add %x1, %z1 : tensor<2x4xf32>
  %y2 = graph.contract "ab,bc->ac" %x2, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z2 = graph.mul %y2, %memory : tensor<2x4xf32>
  %x3 = graph.add %x2, %z2 : tensor<2x4xf32>
  %sum, %count, %lse = graph.cross_entropy %x3, %labels ignore -100
      : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
}
