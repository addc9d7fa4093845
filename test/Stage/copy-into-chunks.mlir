// A mask made in chunk 0 is made again in chunk 1, once; what depends on a parameter is read across the border.
// RUN: xlc-opt %s --xlc-copy-into-chunks | FileCheck %s
// CHECK-LABEL: func.func @micro_batch
// CHECK:      %[[F0:.*]] = graph.cast %arg0 {graph.chunk = 0
// CHECK-NEXT: %[[A:.*]] = graph.mul %arg1, %[[F0]] {graph.chunk = 0
// CHECK-NEXT: %[[F1:.*]] = graph.cast %arg0 {graph.chunk = 1 : i64, graph.role = #graph.role<F>, graph.unit = #graph.unit<"layer", 1>}
// CHECK-NEXT: %[[B:.*]] = graph.mul %[[A]], %[[F1]] {graph.chunk = 1
// CHECK-NEXT: %[[C:.*]] = graph.mul %[[B]], %[[F1]] {graph.chunk = 1{{.*}}<"layer", 2>
func.func @micro_batch(%ids: tensor<4xi64> {graph.input = "ids"}, %w: tensor<4xf32> {graph.param = "w"}) -> tensor<4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %f = graph.cast %ids {graph.chunk = 0 : i64, graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xi64> -> tensor<4xf32>
  %0 = graph.mul %w, %f {graph.chunk = 0 : i64, graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xf32>
  %1 = graph.mul %0, %f {graph.chunk = 1 : i64, graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : tensor<4xf32>
  %2 = graph.mul %1, %f {graph.chunk = 1 : i64, graph.unit = #graph.unit<"layer", 2>, graph.role = #graph.role<F>} : tensor<4xf32>
  return %2 : tensor<4xf32>
}
