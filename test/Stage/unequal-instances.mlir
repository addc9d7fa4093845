// Instances of a class that do different things have functions of their own.
// RUN: xlc-opt %s --xlc-outline-units --xlc-verify-staged | FileCheck %s
// CHECK: func.func private @layer_F(
// CHECK-NEXT: graph.tanh
// CHECK: func.func private @layer_F_1(
// CHECK-NEXT: graph.exp
// CHECK-LABEL: func.func @micro_batch
// CHECK-NEXT: call @layer_F(
// CHECK-NEXT: call @layer_F_1(
// CHECK-NEXT: call @layer_F(
func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  %1 = graph.exp %0 {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : tensor<2xf32>
  %2 = graph.tanh %1 {graph.unit = #graph.unit<"layer", 2>, graph.role = #graph.role<F>} : tensor<2xf32>
  return %2 : tensor<2xf32>
}
