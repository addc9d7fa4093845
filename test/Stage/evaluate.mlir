// An entry that evaluates is forward alone. Its units lie on the stages of those that train, and its calls pass the gate.
// RUN: xlc-opt %s --split-input-file --xlc-assign-stages="schedule=1f1b" | FileCheck %s
// RUN: xlc-opt %s --split-input-file --xlc-verify-differentiated
// CHECK-LABEL: @evaluation
// CHECK: graph.tanh {{.*}}graph.chunk = 0
// CHECK: graph.tanh {{.*}}graph.chunk = 1
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
func.func @micro_batch(%x: tensor<2xf32> {graph.input = "x"}, %y: tensor<i64>) -> (tensor<2xf32>, tensor<i64>)
    attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  %1 = graph.tanh %0 {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : tensor<2xf32>
  return %1, %y : tensor<2xf32>, tensor<i64>
}
func.func @evaluation(%w: tensor<2xf32> {graph.param = "w"}, %y: tensor<i64>) -> (tensor<2xf32>, tensor<i64>)
    attributes {graph.entry = #graph.purpose<evaluate>} {
  %0 = graph.tanh %w {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  %1 = graph.tanh %0 {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : tensor<2xf32>
  return %1, %y : tensor<2xf32>, tensor<i64>
}
}
