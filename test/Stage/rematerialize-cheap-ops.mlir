// Backward makes constants, broadcasts and views again; what was computed is saved. A unit makes a copy once.
// RUN: xlc-opt %s --split-input-file --xlc-rematerialize-cheap-ops | FileCheck %s
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[T:.*]] = graph.tanh
// CHECK-NEXT: graph.slice {{.*}}graph.role = #graph.role<F>
// CHECK-NEXT: %[[V:.*]] = graph.slice %[[T]] {{.*}}graph.role = #graph.role<I>
// CHECK-NEXT: %[[C:.*]] = graph.constant {graph.role = #graph.role<I>
// CHECK-NEXT: %[[B:.*]] = graph.broadcast %[[C]] {graph.role = #graph.role<I>
// CHECK-NEXT: %[[M:.*]] = graph.mul %[[V]], %[[B]]
// CHECK-NEXT: graph.mul %[[M]], %[[B]]
// CHECK-NEXT: return
func.func @micro_batch(%x: tensor<4xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %c = graph.constant {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} dense<2.0> : tensor<f32>
  %b = graph.broadcast %c {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<f32> -> tensor<2xf32>
  %t = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xf32>
  %v = graph.slice %t from [1] by [1] {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<4xf32> -> tensor<2xf32>
  %0 = graph.mul %v, %b {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>} : tensor<2xf32>
  %1 = graph.mul %0, %b {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>} : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// The gate of SwiGLU is computed again where it is multiplied; one that a matrix product needs is kept.
// CHECK-LABEL: func.func @micro_batch
func.func @micro_batch(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) attributes {graph.entry = #graph.purpose<train>} {
  // CHECK: %[[KEPT:.*]] = graph.silu %arg0 {{.*}}#graph.role<F>
  // CHECK: graph.silu %arg0 {{.*}}#graph.role<F>
  // CHECK: %[[AGAIN:.*]] = graph.silu %arg0 {{.*}}#graph.role<I>
  // CHECK: graph.mul %{{.*}}, %[[AGAIN]] {{.*}}#graph.role<I>
  // CHECK: graph.contract "ab,bc->ac" %[[KEPT]]
  %c = graph.silu %x {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<F>} : tensor<2x3xf32>
  %g = graph.silu %x {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<F>} : tensor<2x3xf32>
  %y = graph.mul %x, %g {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<F>} : tensor<2x3xf32>
  %d = graph.mul %y, %g {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<I>} : tensor<2x3xf32>
  %p = graph.contract "ab,bc->ac" %c, %w {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<I>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  return %d, %p : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// W stands first and makes the copy, I reads it too: I runs before W, so the copy and what it is made of are of I.
// CHECK-LABEL: func.func @micro_batch
func.func @micro_batch(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) attributes {graph.entry = #graph.purpose<train>} {
  // CHECK: %[[C:.*]] = graph.constant {{.*}}#graph.role<I>
  // CHECK: %[[B:.*]] = graph.broadcast %[[C]] {{.*}}#graph.role<I>
  // CHECK: graph.mul %{{.*}}, %[[B]] {{.*}}#graph.role<W>
  // CHECK: graph.add %{{.*}}, %[[B]] {{.*}}#graph.role<I>
  %c = graph.constant {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<F>} dense<2.0> : tensor<f32>
  %b = graph.broadcast %c {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<F>} : tensor<f32> -> tensor<2xf32>
  %w = graph.mul %x, %b {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<W>} : tensor<2xf32>
  %i = graph.add %x, %b {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<I>} : tensor<2xf32>
  return %w, %i : tensor<2xf32>, tensor<2xf32>
}
