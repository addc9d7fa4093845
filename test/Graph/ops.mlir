// Every kind of op round-trips through its assembly.
// RUN: xlc-opt %s | xlc-opt | FileCheck %s

// CHECK-LABEL: func.func @round_trip
func.func @round_trip(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // CHECK: graph.contract "ab,bc->ac" {{.*}}graph.role = #graph.role<F>{{.*}}graph.unit = #graph.unit<"layer", 0>
  %0 = graph.contract "ab,bc->ac" %x, %w {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>}
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: graph.scale {{.*}} by 1 over 4
  %1 = graph.scale %0 by 1 over 4 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
