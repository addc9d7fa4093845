// W keeps the products that make gradients, what is made for them alone (an exp) and what follows from them (a sum of two). A sum of columns and
// what both read become I; so do a product from which another one follows, the way between them, and what ranks exchange.
// RUN: xlc-opt %s --xlc-set-products-apart | FileCheck %s
// RUN: xlc-opt %s --xlc-set-products-apart --xlc-outline-units=split-backward=true --xlc-verify-staged | FileCheck %s --check-prefix=CALLS

// CALLS-LABEL: func.func private @layer_I
// CALLS: graph.reduce
// CALLS-LABEL: func.func private @layer_W
// CALLS-NOT: graph.reduce
// CALLS-NOT: dist.
// CALLS: graph.contract
// CALLS-LABEL: func.func @micro_batch
// CALLS: call @layer_I({{.*}}graph.stores = 2
// CALLS: call @layer_W({{.*}}graph.stores = 3

#layer = #graph.unit<"layer", 0>
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<2x4xf32> {graph.input = "x"}, %dy: tensor<2x4xf32> {graph.input = "dy"}, %w: tensor<4x4xf32> {graph.param = "w"})
    -> (tensor<4x4xf32> {graph.grad = "w"}, tensor<4xf32> {graph.grad = "b"}, tensor<4x8xf32> {graph.grad = "v"}, tensor<4xf32> {graph.grad = "u"}, tensor<4x4xf32> {graph.grad = "t"}) {
  // CHECK: graph.tanh {{.*}}role<I>
  %0 = graph.tanh %dy {graph.unit = #layer, graph.role = #graph.role<W>} : tensor<2x4xf32>
  // CHECK: graph.reduce {{.*}}role<I>
  %db = graph.reduce sum %0 dims [0] {graph.unit = #layer, graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<4xf32>
  // CHECK: graph.exp {{.*}}role<W>
  %1 = graph.exp %x {graph.unit = #layer, graph.role = #graph.role<W>} : tensor<2x4xf32>
  // CHECK: graph.contract "ab,ac->bc" {{.*}}role<W>
  %2 = graph.contract "ab,ac->bc" %1, %0 {graph.unit = #layer, graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  // CHECK: graph.add {{.*}}role<W>
  %dw = graph.add %2, %2 {graph.unit = #layer, graph.role = #graph.role<W>} : tensor<4x4xf32>
  // CHECK: dist.all_gather {{.*}}role<I>
  %3 = dist.all_gather %x dim 1 outer 1 over <tp, [2, 1], []> {graph.unit = #layer, graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<2x8xf32>
  // CHECK: graph.contract "ab,ac->bc" {{.*}}role<W>
  %dv = graph.contract "ab,ac->bc" %0, %3 {graph.unit = #layer, graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.contract "ac,bc->ab" {{.*}}role<I>
  %4 = graph.contract "ac,bc->ab" %dy, %w {graph.unit = #layer, graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: graph.mul {{.*}}role<I>
  %5 = graph.mul %4, %4 {graph.unit = #layer, graph.role = #graph.role<W>} : tensor<2x4xf32>
  // CHECK: graph.reduce {{.*}}role<I>
  %du = graph.reduce sum %5 dims [0] {graph.unit = #layer, graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<4xf32>
  // CHECK: graph.contract "ac,bc->ab" {{.*}}role<I>
  %6 = graph.contract "ac,bc->ab" %5, %w {graph.unit = #layer, graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: graph.contract "ab,ac->bc" {{.*}}role<W>
  %dt = graph.contract "ab,ac->bc" %x, %6 {graph.unit = #layer, graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %dw, %db, %dv, %du, %dt : tensor<4x4xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x4xf32>
}
}
