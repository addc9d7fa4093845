// The biases of two branches that are added have one gradient; each is stored.
// RUN: xlc-opt %s --xlc-outline-units | FileCheck %s
// CHECK: func.func private @model_B(%[[DY:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK: %[[G:.*]] = graph.neg %[[DY]]
// CHECK: %[[COPY:.*]] = graph.cast %[[G]]
// CHECK: return %[[G]], %[[COPY]]
// CHECK: %[[CALL:.*]]:2 = call @model_B
// CHECK: return %{{.*}}, %{{.*}}, %[[CALL]]#0, %[[CALL]]#1
func.func @micro_batch(%sum: tensor<f32> {graph.input = "sum"}, %count: tensor<i64> {graph.input = "count"},
                       %dy: tensor<2xf32> {graph.input = "dy"})
    -> (tensor<f32>, tensor<i64>, tensor<2xf32> {graph.grad = "a"}, tensor<2xf32> {graph.grad = "b"}) attributes {graph.entry = #graph.purpose<train>} {
  %g = graph.neg %dy {graph.unit = #graph.unit<"model", 0>, graph.role = #graph.role<W>} : tensor<2xf32>
  return %sum, %count, %g, %g : tensor<f32>, tensor<i64>, tensor<2xf32>, tensor<2xf32>
}
