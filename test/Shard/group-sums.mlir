// In a sum of three and more, products are added first; sums of two, and of products alone, stay.
// RUN: xlc-opt %s --xlc-group-sums | FileCheck %s
#I = #graph.role<I>
#u = #graph.unit<"layer", 0>
// CHECK-LABEL: @micro_batch
// CHECK: [[A:%.*]] = graph.contract
// CHECK: [[B:%.*]] = graph.contract
// CHECK: [[AB:%.*]] = graph.add [[A]], [[B]]
// CHECK: [[ABX:%.*]] = graph.add [[AB]], %arg0
// CHECK: [[TWO:%.*]] = graph.add [[ABX]], [[A]]
// CHECK: return [[TWO]]
func.func @micro_batch(%x: tensor<2x2xf32>, %v: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %a = graph.contract "ab,bc->ac" %x, %v {graph.unit = #u, graph.role = #I} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = graph.contract "ab,bc->ac" %x, %w {graph.unit = #u, graph.role = #I} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = graph.add %x, %a {graph.unit = #u, graph.role = #I} : tensor<2x2xf32>
  %1 = graph.add %0, %b {graph.unit = #u, graph.role = #I} : tensor<2x2xf32>
  // Of another unit: this sum begins anew.
  %2 = graph.add %1, %a {graph.unit = #graph.unit<"layer", 1>, graph.role = #I} : tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
