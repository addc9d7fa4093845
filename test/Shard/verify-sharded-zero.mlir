// Zero is a term of any sum and a piece of any tensor: a stage that has no part in a gradient contributes it. So it stays
// through the call that makes it.
// RUN: xlc-opt %s --xlc-verify-sharded | FileCheck %s
// CHECK: func @micro_batch
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%w: tensor<4xf32> {graph.param = "w"},
                       %v: tensor<2xf32> {graph.param = "v", dist.layout = #dist.layout<[4] dim 0 outer 1 over <tp, [2, 1], []>>})
    -> (tensor<4xf32> {graph.grad = "w", dist.partial = #dist.group<tp, [2, 1], []>}, tensor<2xf32> {graph.grad = "v"}) attributes {graph.entry = #graph.purpose<train>} {
  %0, %1 = call @layer_B() : () -> (tensor<4xf32>, tensor<2xf32>)
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}
func.func private @layer_B() -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = graph.constant dense<0.0> : tensor<4xf32>
  %1 = graph.constant dense<0.0> : tensor<2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}
}
