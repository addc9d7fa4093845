// A product and its bias are rounded together, unless something comes between: what ranks send each other, a second reader
// of the product, or another sum.
// RUN: xlc-opt %s --split-input-file --xlc-round-biased-once | FileCheck %s

// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[H:.*]] = graph.contract {{.*}} -> tensor<2x4xf32>
// CHECK-NEXT: %[[B:.*]] = graph.broadcast
// CHECK-NEXT: %[[S:.*]] = graph.add %[[B]], %[[H]] : tensor<2x4xf32>
// CHECK-NEXT: graph.cast %[[S]] : tensor<2x4xf32> -> tensor<2x4xbf16>
// CHECK: %[[H1:.*]] = graph.contract {{.*}} -> tensor<2x4xf32>
// CHECK: graph.add %[[H1]], %{{.*}} : tensor<2x4xf32>
func.func @micro_batch(%x: tensor<2x4xbf16>, %w: tensor<4x4xbf16>, %b: tensor<4xbf16>) -> tensor<2x4xbf16> attributes {graph.entry = #graph.purpose<train>} {
  %wide = graph.cast %b : tensor<4xbf16> -> tensor<4xf32>
  %h = graph.contract "ab,bc->ac" %x, %w : (tensor<2x4xbf16>, tensor<4x4xbf16>) -> tensor<2x4xbf16>
  %f = graph.cast %h : tensor<2x4xbf16> -> tensor<2x4xf32>
  %bias = graph.broadcast %wide : tensor<4xf32> -> tensor<2x4xf32>
  %s = graph.add %bias, %f : tensor<2x4xf32>
  %y = graph.cast %s : tensor<2x4xf32> -> tensor<2x4xbf16>
  %h1 = graph.contract "ab,bc->ac" %y, %w : (tensor<2x4xbf16>, tensor<4x4xbf16>) -> tensor<2x4xbf16>
  %f1 = graph.cast %h1 : tensor<2x4xbf16> -> tensor<2x4xf32>
  %rows = graph.broadcast %b : tensor<4xbf16> -> tensor<2x4xbf16>
  %bias1 = graph.cast %rows : tensor<2x4xbf16> -> tensor<2x4xf32>
  %s1 = graph.add %f1, %bias1 : tensor<2x4xf32>
  %y1 = graph.cast %s1 : tensor<2x4xf32> -> tensor<2x4xbf16>
  return %y1 : tensor<2x4xbf16>
}

// -----

// Partial sums cross ranks as sixteen bits.
// CHECK-LABEL: func.func @micro_batch
// CHECK: graph.contract {{.*}} -> tensor<2x4xbf16>
func.func @micro_batch(%x: tensor<2x4xbf16>, %w: tensor<4x4xbf16>, %b: tensor<4xbf16>) -> tensor<2x4xbf16> attributes {graph.entry = #graph.purpose<train>} {
  %wide = graph.cast %b : tensor<4xbf16> -> tensor<4xf32>
  %h = graph.contract "ab,bc->ac" %x, %w : (tensor<2x4xbf16>, tensor<4x4xbf16>) -> tensor<2x4xbf16>
  %r = dist.all_reduce sum %h over <tp, [2, 1], []> : tensor<2x4xbf16>
  %f = graph.cast %r : tensor<2x4xbf16> -> tensor<2x4xf32>
  %bias = graph.broadcast %wide : tensor<4xf32> -> tensor<2x4xf32>
  %s = graph.add %f, %bias : tensor<2x4xf32>
  %y = graph.cast %s : tensor<2x4xf32> -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}

// -----

// The sum is added to another before it is rounded; a bias of f32 is none that a library adds to sixteen bits; the product
// is read twice.
// CHECK-LABEL: func.func @micro_batch
// CHECK-COUNT-3: graph.contract {{.*}} -> tensor<2x4xbf16>
func.func @micro_batch(%x: tensor<2x4xbf16>, %w: tensor<4x4xbf16>, %b: tensor<4xbf16>, %k: tensor<4xf32>)
    -> (tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2x4xbf16>) attributes {graph.entry = #graph.purpose<train>} {
  %wide = graph.cast %b : tensor<4xbf16> -> tensor<4xf32>
  %h0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x4xbf16>, tensor<4x4xbf16>) -> tensor<2x4xbf16>
  %f0 = graph.cast %h0 : tensor<2x4xbf16> -> tensor<2x4xf32>
  %bias = graph.broadcast %wide : tensor<4xf32> -> tensor<2x4xf32>
  %s0 = graph.add %f0, %bias : tensor<2x4xf32>
  %fx = graph.cast %x : tensor<2x4xbf16> -> tensor<2x4xf32>
  %r0 = graph.add %s0, %fx : tensor<2x4xf32>
  %y0 = graph.cast %r0 : tensor<2x4xf32> -> tensor<2x4xbf16>
  %h1 = graph.contract "ab,cb->ac" %x, %w : (tensor<2x4xbf16>, tensor<4x4xbf16>) -> tensor<2x4xbf16>
  %f1 = graph.cast %h1 : tensor<2x4xbf16> -> tensor<2x4xf32>
  %kept = graph.broadcast %k : tensor<4xf32> -> tensor<2x4xf32>
  %s1 = graph.add %f1, %kept : tensor<2x4xf32>
  %y1 = graph.cast %s1 : tensor<2x4xf32> -> tensor<2x4xbf16>
  %h2 = graph.contract "ab,bc->ac" %y1, %w : (tensor<2x4xbf16>, tensor<4x4xbf16>) -> tensor<2x4xbf16>
  %f2 = graph.cast %h2 : tensor<2x4xbf16> -> tensor<2x4xf32>
  %s2 = graph.add %f2, %bias : tensor<2x4xf32>
  %y2 = graph.cast %s2 : tensor<2x4xf32> -> tensor<2x4xbf16>
  %t0 = graph.cast %y2 : tensor<2x4xbf16> -> tensor<2x4xf32>
  %g2 = graph.cast %h2 : tensor<2x4xbf16> -> tensor<2x4xf32>
  %t1 = graph.add %t0, %g2 : tensor<2x4xf32>
  %t = graph.cast %t1 : tensor<2x4xf32> -> tensor<2x4xbf16>
  return %y0, %y1, %t : tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2x4xbf16>
}
