// Backward makes constants, broadcasts and views again; what was computed is saved. A unit makes a copy once.
// RUN: xlc-opt %s --xlc-rematerialize-cheap-ops | FileCheck %s
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[T:.*]] = graph.tanh
// CHECK-NEXT: graph.slice {{.*}}graph.role = #graph.role<F>
// CHECK-NEXT: %[[V:.*]] = graph.slice %[[T]] {{.*}}graph.role = #graph.role<I>
// CHECK-NEXT: %[[C:.*]] = graph.constant {graph.role = #graph.role<I>
// CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[C]] {graph.role = #graph.role<I>
// CHECK-NEXT: %[[M:.*]] = graph.mul %[[V]], %[[B]]
// CHECK-NEXT: graph.mul %[[M]], %[[B]]
// CHECK-NEXT: return
func.func @micro_batch(%x: tensor<4xf32>) -> tensor<2xf32> {
  %c = graph.constant {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} dense<2.0> : tensor<f32>
  %b = graph.broadcast %c {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<f32> -> tensor<2xf32>
  %t = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xf32>
  %v = graph.slice %t from [1] by [1] {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xf32> -> tensor<2xf32>
  %0 = graph.mul %v, %b {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>} : tensor<2xf32>
  %1 = graph.mul %0, %b {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>} : tensor<2xf32>
  return %1 : tensor<2xf32>
}
