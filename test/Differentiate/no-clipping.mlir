// Without clip_norm the factor on the gradients is nominal over actual count alone; adamw has two states.
// RUN: xlc-opt %s --xlc-append-update | FileCheck %s
// CHECK-LABEL: func.func @scalars(
// CHECK-NOT: graph.min
// CHECK: return
// CHECK-LABEL: func.func @update(
// CHECK: graph.optimizer_step adamw %{{.*}} states %{{.*}}, %{{.*}} {
module attributes {graph.nominal_count = 8 : i64, graph.groups = [
    {kind = "adamw", lr = 0.1 : f64, beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64, momentum = 0.0 : f64}]} {
func.func @micro_batch(%a: tensor<2xf32> {graph.param = "a"}, %sum: tensor<f32> {graph.input = "sum"}, %count: tensor<i64> {graph.input = "count"})
    -> (tensor<f32>, tensor<i64>, tensor<2xf32> {graph.grad = "a"}) attributes {graph.entry = #graph.purpose<train>} {
  return %sum, %count, %a : tensor<f32>, tensor<i64>, tensor<2xf32>
}
}
