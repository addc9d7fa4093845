// A gradient that is also what another unit waits for is two results of its unit: one is passed on, the other stored.
// RUN: xlc-opt %s --xlc-outline-units | FileCheck %s
// CHECK: func.func private @head_B(%[[DY:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK: %[[G:.*]] = graph.neg %[[DY]]
// CHECK: return %[[G]], %[[G]]
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[HEAD:.*]]:2 = call @head_B
// CHECK: %[[EMBED:.*]] = call @embed_B(%[[HEAD]]#0)
// CHECK: return %{{.*}}, %{{.*}}, %[[HEAD]]#1, %[[EMBED]]
func.func @micro_batch(%sum: tensor<f32> {graph.input = "sum"}, %count: tensor<i64> {graph.input = "count"},
                       %dy: tensor<2xf32> {graph.input = "dy"})
    -> (tensor<f32>, tensor<i64>, tensor<2xf32> {graph.grad = "position"}, tensor<2xf32> {graph.grad = "embedding"}) attributes {graph.entry = #graph.purpose<train>} {
  %g = graph.neg %dy {graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<I>} : tensor<2xf32>
  %d = graph.abs %g {graph.unit = #graph.unit<"embed", 0>, graph.role = #graph.role<W>} : tensor<2xf32>
  return %sum, %count, %g, %d : tensor<f32>, tensor<i64>, tensor<2xf32>, tensor<2xf32>
}
