// One layer and a loss: each value is rounded once, where it is made, and each unit widens what it reads.
// RUN: xlc-opt %s --xlc-insert-casts --xlc-verify-precision | FileCheck %s
// RUN: xlc-opt %s --xlc-insert-casts=compute=f16 --xlc-verify-precision=compute=f16 | FileCheck %s --check-prefix=HALF
// HALF: graph.contract {{.*}} (tensor<2x8xf16>, tensor<8x8xf16>) -> tensor<2x8xf16>
module {
// A trained parameter is read narrow, a kept one and a running average are not. Inputs stay.
// CHECK-LABEL: func.func @micro_batch
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x8xbf16> {graph.param = "w"}
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<8xf32> {graph.keep, graph.param = "k"}
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x8xf32> {graph.input = "x"}
func.func @micro_batch(%w: tensor<8x8xf32> {graph.param = "w"}, %k: tensor<8xf32> {graph.keep, graph.param = "k"},
                       %average: tensor<2xf32> {graph.param = "average", graph.buffer, graph.frozen},
                       %x: tensor<2x8xf32> {graph.input = "x"})
    -> (tensor<f32>, tensor<2xf32> {graph.buffer = "average"}, tensor<8x8xf32> {graph.grad = "w"}, tensor<8xf32> {graph.grad = "k"}) attributes {graph.entry = #graph.purpose<train>} {
  // An operand of a product is rounded; the product rounds its sums itself.
  // CHECK: %[[XN:.*]] = graph.cast %[[X]] {{.*}} : tensor<2x8xf32> -> tensor<2x8xbf16>
  // CHECK: %[[H:.*]] = graph.contract "ab,bc->ac" %[[XN]], %[[W]] {{.*}} -> tensor<2x8xbf16>
  %h = graph.contract "ab,bc->ac" %x, %w {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  // Small ops compute in f32, and their sum is rounded once, since backward reads it too.
  // CHECK: %[[B:.*]] = graph.broadcast %[[K]]
  // CHECK: %[[HW:.*]] = graph.cast %[[H]] {{.*}} : tensor<2x8xbf16> -> tensor<2x8xf32>
  // CHECK: %[[S:.*]] = graph.add %[[HW]], %[[B]]
  // CHECK: %[[SN:.*]] = graph.cast %[[S]] {{.*}} -> tensor<2x8xbf16>
  // CHECK: %[[SW:.*]] = graph.cast %[[SN]] {{.*}} : tensor<2x8xbf16> -> tensor<2x8xf32>
  // CHECK: %[[G:.*]] = graph.gelu tanh %[[SW]]
  // CHECK: %[[GN:.*]] = graph.cast %[[G]] {{.*}} -> tensor<2x8xbf16>
  %b = graph.broadcast %k {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : tensor<8xf32> -> tensor<2x8xf32>
  %s = graph.add %h, %b {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : tensor<2x8xf32>
  %g = graph.gelu tanh %s {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : tensor<2x8xf32>
  // Movements move what is narrow. A view of a narrow value needs no cast.
  // CHECK: %[[T:.*]] = graph.transpose %[[GN]] [1, 0] {{.*}} -> tensor<8x2xbf16>
  // CHECK: %[[Y:.*]] = graph.contract "ba,bc->ac" %[[T]], %[[T]] {{.*}} -> tensor<2x2xbf16>
  %t = graph.transpose %g [1, 0] {graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : tensor<2x8xf32> -> tensor<8x2xf32>
  %y = graph.contract "ba,bc->ac" %t, %t {graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  // What lies behind the last product is the loss: nothing is rounded.
  // CHECK: %[[YW:.*]] = graph.cast %[[Y]] {{.*}} -> tensor<2x2xf32>
  // CHECK: %[[Q:.*]] = graph.mul %[[YW]], %[[YW]]
  // CHECK: %[[MEAN:.*]] = graph.reduce sum %[[Q]] dims [1]
  // CHECK: %[[SUM:.*]] = graph.reduce sum %[[Q]] dims [0, 1]
  %q = graph.mul %y, %y {graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : tensor<2x2xf32>
  %mean = graph.reduce sum %q dims [1] {graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : tensor<2x2xf32> -> tensor<2xf32>
  %sum = graph.reduce sum %q dims [0, 1] {graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : tensor<2x2xf32> -> tensor<f32>
  // Backward widens for itself what forward kept.
  // CHECK: %[[SB:.*]] = graph.cast %[[SN]] {graph.role = #graph.role<W>{{.*}} -> tensor<2x8xf32>
  // CHECK: %[[D:.*]] = graph.gelu_backward tanh %[[SB]], %{{.*}}
  // CHECK: %[[DN:.*]] = graph.cast %[[D]] {{.*}} -> tensor<2x8xbf16>
  %one = graph.constant {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} dense<1.0> : tensor<2x8xf32>
  %d = graph.gelu_backward tanh %s, %one {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} : tensor<2x8xf32>
  // Gradients of parameters are not rounded: sums of products, and sums over rows of what is read rounded.
  // CHECK: %[[DW:.*]] = graph.contract "ab,ac->bc" %[[XB:.*]], %[[DN]] {{.*}} : (tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<8x8xf32>
  // CHECK: %[[DB:.*]] = graph.cast %[[DN]] {{.*}} -> tensor<2x8xf32>
  // CHECK: %[[DK:.*]] = graph.reduce sum %[[DB]] dims [0]
  // CHECK: return %[[SUM]], %[[MEAN]], %[[DW]], %[[DK]]
  %dw = graph.contract "ab,ac->bc" %x, %d {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %dk = graph.reduce sum %d dims [0] {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} : tensor<2x8xf32> -> tensor<8xf32>
  return %sum, %mean, %dw, %dk : tensor<f32>, tensor<2xf32>, tensor<8x8xf32>, tensor<8xf32>
}
func.func @update(%w: tensor<8x8xf32> {graph.param = "w"}, %k: tensor<8xf32> {graph.param = "k"}) {
  return
}
}
