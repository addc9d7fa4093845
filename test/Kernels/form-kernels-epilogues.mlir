// What cuBLASLt does with a product before it rounds it is one call with it: h and y of GELU are its two results, a residual and h of
// the gradient operands. A residual that is the product's own operand, or is not there yet, is added by a kernel.
// RUN: xlc-opt --xlc-target=cuda:sm_90 %s --xlc-form-kernels | FileCheck %s

// CHECK:      func.func private @kernel_0(%{{.*}}: tensor<2x8xbf16>, %{{.*}}: tensor<8x16xbf16>, %{{.*}}: tensor<16xbf16>) -> (tensor<2x16xbf16>, tensor<2x16xbf16>) attributes {exec.kind = #exec.kernel<library>}
// CHECK:        %[[S:.*]] = graph.add
// CHECK-NEXT:   %[[H:.*]] = graph.cast %[[S]]
// CHECK-NEXT:   %[[G:.*]] = graph.gelu tanh %[[S]]
// CHECK-NEXT:   %[[Y:.*]] = graph.cast %[[G]]
// CHECK-NEXT:   return %[[H]], %[[Y]]
// CHECK:      func.func private @kernel_1(%{{.*}}: tensor<2x16xbf16>, %{{.*}}: tensor<16x8xbf16>, %{{.*}}: tensor<8xbf16>, %{{.*}}: tensor<2x8xbf16>) -> tensor<2x8xbf16> attributes {exec.kind = #exec.kernel<library>}
// CHECK:      func.func private @forward
// CHECK-NEXT:   %[[HY:.*]]:2 = call @kernel_0(%arg0, %arg1, %arg2)
// CHECK-NEXT:   %[[Z:.*]] = call @kernel_1(%[[HY]]#1, %arg3, %arg4, %arg0)
// CHECK-NEXT:   return %[[HY]]#0, %[[Z]]
func.func private @forward(%x: tensor<2x8xbf16>, %w: tensor<8x16xbf16>, %b: tensor<16xbf16>, %v: tensor<16x8xbf16>,
                           %c: tensor<8xbf16>) -> (tensor<2x16xbf16>, tensor<2x8xbf16>) {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x16xbf16>) -> tensor<2x16xf32>
  %1 = graph.broadcast %b : tensor<16xbf16> -> tensor<2x16xbf16>
  %2 = graph.cast %1 : tensor<2x16xbf16> -> tensor<2x16xf32>
  %3 = graph.add %0, %2 : tensor<2x16xf32>
  %h = graph.cast %3 : tensor<2x16xf32> -> tensor<2x16xbf16>
  %4 = graph.gelu tanh %3 : tensor<2x16xf32>
  %5 = graph.cast %4 : tensor<2x16xf32> -> tensor<2x16xbf16>
  %6 = graph.contract "ab,bc->ac" %5, %v : (tensor<2x16xbf16>, tensor<16x8xbf16>) -> tensor<2x8xf32>
  %7 = graph.broadcast %c : tensor<8xbf16> -> tensor<2x8xbf16>
  %8 = graph.cast %7 : tensor<2x8xbf16> -> tensor<2x8xf32>
  %9 = graph.add %6, %8 : tensor<2x8xf32>
  %10 = graph.cast %x : tensor<2x8xbf16> -> tensor<2x8xf32>
  %11 = graph.add %10, %9 : tensor<2x8xf32>
  %z = graph.cast %11 : tensor<2x8xf32> -> tensor<2x8xbf16>
  return %h, %z : tensor<2x16xbf16>, tensor<2x8xbf16>
}

// CHECK:      func.func private @kernel_2(%{{.*}}: tensor<2x8xbf16>, %{{.*}}: tensor<16x8xbf16>, %{{.*}}: tensor<2x16xbf16>) -> tensor<2x16xbf16> attributes {exec.kind = #exec.kernel<library>}
// CHECK:        graph.gelu_backward
// CHECK:      func.func private @backward
func.func private @backward(%dy: tensor<2x8xbf16>, %v: tensor<16x8xbf16>, %h: tensor<2x16xbf16>) -> tensor<2x16xbf16> {
  %0 = graph.contract "ab,cb->ac" %dy, %v : (tensor<2x8xbf16>, tensor<16x8xbf16>) -> tensor<2x16xf32>
  %1 = graph.cast %h : tensor<2x16xbf16> -> tensor<2x16xf32>
  %2 = graph.gelu_backward tanh %1, %0 : tensor<2x16xf32>
  %dh = graph.cast %2 : tensor<2x16xf32> -> tensor<2x16xbf16>
  return %dh : tensor<2x16xbf16>
}

// CHECK:      func.func private @own
// CHECK-NEXT:   %[[P:.*]] = call @{{.*}}(%arg0, %arg1) {{.*}} : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
// CHECK-NEXT:   call @{{.*}}(%[[P]], %arg0)
func.func private @own(%x: tensor<8x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
  %1 = graph.cast %x : tensor<8x8xbf16> -> tensor<8x8xf32>
  %2 = graph.add %0, %1 : tensor<8x8xf32>
  %y = graph.cast %2 : tensor<8x8xf32> -> tensor<8x8xbf16>
  return %y : tensor<8x8xbf16>
}

// CHECK:      func.func private @later
// CHECK-NEXT:   %[[P:.*]] = call @{{.*}}(%arg0, %arg1) {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:   %[[L:.*]] = call @{{.*}}(%arg2, %arg1) {{.*}} -> tensor<8x8xbf16>
// CHECK-NEXT:   call @{{.*}}(%[[P]], %[[L]])
func.func private @later(%x: tensor<8x8xbf16>, %w: tensor<8x8xbf16>, %u: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
  %late = graph.contract "ab,bc->ac" %u, %w : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %1 = graph.cast %late : tensor<8x8xbf16> -> tensor<8x8xf32>
  %2 = graph.add %0, %1 : tensor<8x8xf32>
  %y = graph.cast %2 : tensor<8x8xf32> -> tensor<8x8xbf16>
  return %y : tensor<8x8xbf16>
}

// Nor one that comes behind the bias.
// CHECK:      func.func private @behind
// CHECK-NEXT:   %[[P:.*]] = call @{{.*}}(%arg0, %arg1) {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:   %[[S:.*]] = call @{{.*}}(%[[P]], %arg3) {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:   %[[L:.*]] = call @{{.*}}(%arg2, %arg1) {{.*}} -> tensor<8x8xbf16>
// CHECK-NEXT:   call @{{.*}}(%[[S]], %[[L]])
func.func private @behind(%x: tensor<8x8xbf16>, %w: tensor<8x8xbf16>, %u: tensor<8x8xbf16>, %b: tensor<8xbf16>) -> tensor<8x8xbf16> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
  %1 = graph.broadcast %b : tensor<8xbf16> -> tensor<8x8xbf16>
  %2 = graph.cast %1 : tensor<8x8xbf16> -> tensor<8x8xf32>
  %3 = graph.add %0, %2 : tensor<8x8xf32>
  %late = graph.contract "ab,bc->ac" %u, %w : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %4 = graph.cast %late : tensor<8x8xbf16> -> tensor<8x8xf32>
  %5 = graph.add %3, %4 : tensor<8x8xf32>
  %y = graph.cast %5 : tensor<8x8xf32> -> tensor<8x8xbf16>
  return %y : tensor<8x8xbf16>
}
