// I and W apart: W takes what I made for it, and stores all gradients, also one that is what another unit waits for.
// RUN: xlc-opt %s --xlc-outline-units=split-backward=true --xlc-verify-staged | FileCheck %s
// CHECK-LABEL: func.func private @layer_W
// CHECK: graph.contract
// CHECK: graph.cast
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[F:.*]] = call @layer_F
// CHECK: %[[I:.*]]:2 = call @layer_I(%[[F]], %{{.*}}) {{.*}}graph.role = #graph.role<I>, graph.stores = 0
// CHECK: %[[W:.*]]:2 = call @layer_W(%{{.*}}) {{.*}}graph.role = #graph.role<W>, graph.stores = 2
// CHECK: %[[E:.*]] = call @embed_W(%[[I]]#{{[01]}})
// CHECK: return %[[W]]#0, %[[W]]#1, %[[E]]
func.func @micro_batch(%x: tensor<2x2xf32> {graph.input = "x"}, %w: tensor<2x2xf32> {graph.param = "w"}, %b: tensor<2x2xf32> {graph.param = "b"}, %e: tensor<2x2xf32> {graph.param = "e"})
    -> (tensor<2x2xf32> {graph.grad = "w"}, tensor<2x2xf32> {graph.grad = "b"}, tensor<2x2xf32> {graph.grad = "e"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2x2xf32>
  // First in the order of ops, but W needs what I makes.
  %1 = graph.mul %0, %0 {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<W>} : tensor<2x2xf32>
  %2 = graph.exp %0 {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>} : tensor<2x2xf32>
  %3 = graph.contract "ab,cb->ac" %2, %w {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = graph.contract "ab,ac->bc" %1, %2 {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<W>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = graph.tanh %3 {graph.unit = #graph.unit<"embed", 0>, graph.role = #graph.role<W>} : tensor<2x2xf32>
  return %4, %3, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
