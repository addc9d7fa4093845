// W keeps its products, what is made for them alone (a cast) and what follows from them (a sum). A sum of columns and what both read
// become I; so does what ranks exchange for a product.
// RUN: xlc-opt %s --xlc-set-products-apart | FileCheck %s
// RUN: xlc-opt %s --xlc-set-products-apart --xlc-outline-units=split-backward=true --xlc-verify-staged | FileCheck %s --check-prefix=CALLS

// CALLS-LABEL: func.func private @layer_I
// CALLS: graph.reduce
// CALLS-LABEL: func.func private @layer_W
// CALLS-NOT: graph.reduce
// CALLS-NOT: dist.
// CALLS: graph.contract
// CALLS-LABEL: func.func @micro_batch
// CALLS: call @layer_I({{.*}}graph.stores = 1
// CALLS: call @layer_W({{.*}}graph.stores = 2

#layer = #graph.unit<"layer", 0>
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<2x4xf32> {graph.input = "x"}, %dy: tensor<2x4xf32> {graph.input = "dy"})
    -> (tensor<4x4xf32> {graph.grad = "w"}, tensor<4xf32> {graph.grad = "b"}, tensor<4x8xf32> {graph.grad = "v"}) {
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
  return %dw, %db, %dv : tensor<4x4xf32>, tensor<4xf32>, tensor<4x8xf32>
}
}
