// Where cuBLASLt adds a residual to a product, or makes GELU of it, what it has in f32 is rounded once, behind that. CPUs have no such
// library, and what it does not take stays as it is.
// RUN: xlc-opt --xlc-target=cuda:sm_90 %s --split-input-file --xlc-round-biased-once --xlc-round-epilogues-once | FileCheck %s
// RUN: xlc-opt %s --split-input-file --xlc-round-biased-once --xlc-round-epilogues-once | FileCheck %s --check-prefix=CPU

// x + fc2(gelu(fc(x))): GELU reads the sum that backward reads rounded; the residual is added to product and bias.
// CHECK-LABEL: func.func @micro_batch
// CHECK:         %[[P:.*]] = graph.contract {{.*}} -> tensor<2x16xf32>
// CHECK:         %[[S:.*]] = graph.add %[[P]], %{{.*}} : tensor<2x16xf32>
// CHECK-NEXT:    %[[H:.*]] = graph.cast %[[S]] : tensor<2x16xf32> -> tensor<2x16xbf16>
// CHECK-NEXT:    graph.gelu tanh %[[S]]
// CHECK:         %[[Q:.*]] = graph.contract {{.*}} -> tensor<2x8xf32>
// CHECK:         %[[T:.*]] = graph.add %[[Q]], %{{.*}} : tensor<2x8xf32>
// CHECK:         %[[R:.*]] = graph.add %{{.*}}, %[[T]] : tensor<2x8xf32>
// CHECK:         graph.cast %[[R]]
// CPU-LABEL:     func.func @micro_batch
// CPU:           %[[H:.*]] = graph.cast %{{.*}} : tensor<2x16xf32> -> tensor<2x16xbf16>
// CPU-NEXT:      %[[W:.*]] = graph.cast %[[H]] : tensor<2x16xbf16> -> tensor<2x16xf32>
// CPU-NEXT:      graph.gelu tanh %[[W]]
// CPU:           graph.contract {{.*}} -> tensor<2x8xbf16>
func.func @micro_batch(%x: tensor<2x8xbf16>, %w: tensor<8x16xbf16>, %b: tensor<16xbf16>, %v: tensor<16x8xbf16>,
                       %c: tensor<8xbf16>) -> (tensor<2x16xbf16>, tensor<2x8xbf16>) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x16xbf16>) -> tensor<2x16xbf16>
  %1 = graph.cast %0 : tensor<2x16xbf16> -> tensor<2x16xf32>
  %2 = graph.broadcast %b : tensor<16xbf16> -> tensor<2x16xbf16>
  %3 = graph.cast %2 : tensor<2x16xbf16> -> tensor<2x16xf32>
  %4 = graph.add %1, %3 : tensor<2x16xf32>
  %h = graph.cast %4 : tensor<2x16xf32> -> tensor<2x16xbf16>
  %5 = graph.cast %h : tensor<2x16xbf16> -> tensor<2x16xf32>
  %6 = graph.gelu tanh %5 : tensor<2x16xf32>
  %7 = graph.cast %6 : tensor<2x16xf32> -> tensor<2x16xbf16>
  %8 = graph.contract "ab,bc->ac" %7, %v : (tensor<2x16xbf16>, tensor<16x8xbf16>) -> tensor<2x8xbf16>
  %9 = graph.cast %8 : tensor<2x8xbf16> -> tensor<2x8xf32>
  %10 = graph.broadcast %c : tensor<8xbf16> -> tensor<2x8xbf16>
  %11 = graph.cast %10 : tensor<2x8xbf16> -> tensor<2x8xf32>
  %12 = graph.add %9, %11 : tensor<2x8xf32>
  %13 = graph.cast %x : tensor<2x8xbf16> -> tensor<2x8xf32>
  %14 = graph.add %13, %12 : tensor<2x8xf32>
  %y = graph.cast %14 : tensor<2x8xf32> -> tensor<2x8xbf16>
  return %h, %y : tensor<2x16xbf16>, tensor<2x8xbf16>
}

// -----

// The gradient of GELU is a product's epilogue too.
// CHECK-LABEL: func.func @micro_batch
// CHECK:         %[[P:.*]] = graph.contract {{.*}} -> tensor<2x16xf32>
// CHECK:         graph.gelu_backward tanh %{{.*}}, %[[P]]
// CPU-LABEL:     func.func @micro_batch
// CPU:           graph.contract {{.*}} -> tensor<2x16xbf16>
func.func @micro_batch(%dy: tensor<2x8xbf16>, %v: tensor<16x8xbf16>, %h: tensor<2x16xbf16>) -> tensor<2x16xbf16> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,cb->ac" %dy, %v : (tensor<2x8xbf16>, tensor<16x8xbf16>) -> tensor<2x16xbf16>
  %1 = graph.cast %h : tensor<2x16xbf16> -> tensor<2x16xf32>
  %2 = graph.cast %0 : tensor<2x16xbf16> -> tensor<2x16xf32>
  %3 = graph.gelu_backward tanh %1, %2 : tensor<2x16xf32>
  %dh = graph.cast %3 : tensor<2x16xf32> -> tensor<2x16xbf16>
  return %dh : tensor<2x16xbf16>
}

// -----

// Not GELU by erf, which the library does not have, and not lines of 12 elements, which it does not take.
// CHECK-LABEL: func.func @micro_batch
// CHECK:         graph.contract {{.*}} -> tensor<2x16xbf16>
// CHECK:         graph.contract {{.*}} -> tensor<2x12xbf16>
func.func @micro_batch(%dy: tensor<2x8xbf16>, %v: tensor<16x8xbf16>, %h: tensor<2x16xbf16>, %u: tensor<12x8xbf16>,
                       %g: tensor<2x12xbf16>) -> (tensor<2x16xbf16>, tensor<2x12xbf16>) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,cb->ac" %dy, %v : (tensor<2x8xbf16>, tensor<16x8xbf16>) -> tensor<2x16xbf16>
  %1 = graph.cast %h : tensor<2x16xbf16> -> tensor<2x16xf32>
  %2 = graph.cast %0 : tensor<2x16xbf16> -> tensor<2x16xf32>
  %3 = graph.gelu_backward erf %1, %2 : tensor<2x16xf32>
  %dh = graph.cast %3 : tensor<2x16xf32> -> tensor<2x16xbf16>
  %4 = graph.contract "ab,cb->ac" %dy, %u : (tensor<2x8xbf16>, tensor<12x8xbf16>) -> tensor<2x12xbf16>
  %5 = graph.cast %g : tensor<2x12xbf16> -> tensor<2x12xf32>
  %6 = graph.cast %4 : tensor<2x12xbf16> -> tensor<2x12xf32>
  %7 = graph.gelu_backward tanh %5, %6 : tensor<2x12xf32>
  %dg = graph.cast %7 : tensor<2x12xf32> -> tensor<2x12xbf16>
  return %dh, %dg : tensor<2x16xbf16>, tensor<2x12xbf16>
}

// -----

// Of two products that are added the later one takes the earlier as its residual, whichever stands first. Where nobody keeps what
// GELU reads, it stays rounded.
// CHECK-LABEL: func.func @micro_batch
// CHECK:         %[[P:.*]] = graph.contract {{.*}} -> tensor<2x16xbf16>
// CHECK:         %[[Q:.*]] = graph.contract {{.*}} -> tensor<2x16xf32>
// CHECK:         graph.add %{{.*}}, %[[Q]]
// CHECK:         graph.contract
// CHECK:         %[[H:.*]] = graph.cast %{{.*}} : tensor<2x16xf32> -> tensor<2x16xbf16>
// CHECK-NEXT:    %[[W:.*]] = graph.cast %[[H]]
// CHECK-NEXT:    graph.gelu tanh %[[W]]
func.func @micro_batch(%x: tensor<2x8xbf16>, %w: tensor<8x16xbf16>, %v: tensor<8x16xbf16>, %u: tensor<16x16xbf16>,
                       %b: tensor<16xbf16>) -> tensor<2x16xbf16> attributes {graph.entry = #graph.purpose<train>} {
  %p = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x16xbf16>) -> tensor<2x16xbf16>
  %q = graph.contract "ab,bc->ac" %x, %v : (tensor<2x8xbf16>, tensor<8x16xbf16>) -> tensor<2x16xbf16>
  %0 = graph.cast %p : tensor<2x16xbf16> -> tensor<2x16xf32>
  %1 = graph.cast %q : tensor<2x16xbf16> -> tensor<2x16xf32>
  %2 = graph.add %0, %1 : tensor<2x16xf32>
  %z = graph.cast %2 : tensor<2x16xf32> -> tensor<2x16xbf16>
  %3 = graph.contract "ab,bc->ac" %z, %u : (tensor<2x16xbf16>, tensor<16x16xbf16>) -> tensor<2x16xf32>
  %4 = graph.broadcast %b : tensor<16xbf16> -> tensor<2x16xbf16>
  %5 = graph.cast %4 : tensor<2x16xbf16> -> tensor<2x16xf32>
  %6 = graph.add %3, %5 : tensor<2x16xf32>
  %h = graph.cast %6 : tensor<2x16xf32> -> tensor<2x16xbf16>
  %7 = graph.cast %h : tensor<2x16xbf16> -> tensor<2x16xf32>
  %8 = graph.gelu tanh %7 : tensor<2x16xf32>
  %y = graph.cast %8 : tensor<2x16xf32> -> tensor<2x16xbf16>
  return %y : tensor<2x16xbf16>
}
