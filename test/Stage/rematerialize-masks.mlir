// What follows element by element from inputs is made again in backward; what depends on a parameter is saved.
// RUN: xlc-opt %s --xlc-rematerialize-cheap-ops | FileCheck %s
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[T:.*]] = graph.mul {{.*}}graph.role = #graph.role<F>
// CHECK-NEXT: %[[F:.*]] = graph.cast %arg0 {graph.role = #graph.role<I>
// CHECK-NEXT: %[[C:.*]] = graph.cos %[[F]] {graph.role = #graph.role<I>
// CHECK-NEXT: %[[M:.*]] = graph.mul %[[T]], %[[C]]
// CHECK-NEXT: return %[[M]]
func.func @micro_batch(%ids: tensor<4xi64> {graph.input = "ids"}, %w: tensor<4xf32> {graph.param = "w"}) -> tensor<4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %f = graph.cast %ids {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xi64> -> tensor<4xf32>
  %c = graph.cos %f {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xf32>
  %t = graph.mul %w, %c {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xf32>
  %0 = graph.mul %t, %c {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
