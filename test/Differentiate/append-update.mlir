// @scalars and @update: two optimizer groups, clipping, a frozen parameter; sgd with momentum has one state, without none.
// RUN: xlc-opt %s --xlc-append-update | FileCheck %s

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[SUM:.*]]: tensor<f32>, %[[COUNT:.*]]: tensor<i64>, %[[SQUARES:.*]]: tensor<f64>, %[[BEFORE:.*]]: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK: %[[S:.*]] = graph.cast %[[SUM]]
// CHECK: %[[N:.*]] = graph.cast %[[COUNT]]
// CHECK: %[[LOSS:.*]] = graph.div %[[S]], %[[N]]
// CHECK: graph.constant dense<8.000000e+00>
// CHECK: %[[RATIO:.*]] = graph.div %{{.*}}, %[[N]]
// CHECK: %[[ROOT:.*]] = graph.sqrt %[[SQUARES]]
// CHECK: %[[NORM:.*]] = graph.mul %[[ROOT]], %[[RATIO]]
// PyTorch's 1e-6, and its order.
// CHECK: graph.constant dense<9.99{{[0-9]*}}E-7>
// CHECK: %[[REACHABLE:.*]] = graph.add %[[NORM]],
// CHECK: graph.constant dense<2.500000e-01>
// CHECK: %[[FACTOR:.*]] = graph.div %{{.*}}, %[[REACHABLE]]
// CHECK: graph.min %[[FACTOR]],
// CHECK: graph.mul %[[RATIO]],
// Where one of the numbers that are shown is not finite the step is skipped, and after it all are.
// CHECK: %[[SHOWN:.*]] = graph.cast %[[LOSS]]
// CHECK: %[[SIZE:.*]] = graph.cast %[[NORM]]
// CHECK: %[[FIRST:.*]] = graph.sub %[[SHOWN]], %[[SHOWN]]
// CHECK: %[[SECOND:.*]] = graph.sub %[[SIZE]], %[[SIZE]]
// CHECK: %[[BOTH:.*]] = graph.add %[[FIRST]], %[[SECOND]]
// CHECK: %[[SKIPPED:.*]] = graph.is_nan %[[BOTH]]
// CHECK: %[[APPLIED:.*]] = graph.select %[[SKIPPED]], %{{.*}}, %[[BEFORE]]
// CHECK: return %[[SHOWN]], %[[SIZE]], %{{.*}}, %[[APPLIED]]

// Parameters, gradients, states, then the scalars of each group; the frozen one is not there.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[A:.*]]: tensor<2xf32> {graph.param = "a"}, %[[B:.*]]: tensor<3xf32> {graph.param = "b"}, %[[DA:.*]]: tensor<2xf32> {graph.grad = "a"}, %[[DB:.*]]: tensor<3xf32> {graph.grad = "b"}, %[[M:.*]]: tensor<2xf32> {graph.state = "a/momentum"}
// CHECK-SAME: %[[S0:.*]]: tensor<6xf32> {graph.group = 0 : i64}, %[[S1:.*]]: tensor<6xf32> {graph.group = 1 : i64}) -> (tensor<2xf32> {graph.param = "a"}, tensor<3xf32> {graph.param = "b"}, tensor<2xf32> {graph.state = "a/momentum"})
// CHECK: graph.optimizer_step sgd %[[A]], %[[DA]], %[[S0]] states %[[M]] {{.*}}momentum = 9.000000e-01 : f64{{.*}}weight_decay = 1.000000e-01
// CHECK: graph.optimizer_step sgd %[[B]], %[[DB]], %[[S1]] {
module attributes {graph.nominal_count = 8 : i64, graph.clip_norm = 0.25 : f64, graph.groups = [
    {kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.1 : f64, momentum = 0.9 : f64},
    {kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
func.func @micro_batch(%a: tensor<2xf32> {graph.param = "a", graph.group = 0 : i64}, %b: tensor<3xf32> {graph.param = "b", graph.group = 1 : i64},
                       %c: tensor<3xf32> {graph.param = "c", graph.frozen}, %sum: tensor<f32> {graph.input = "sum"}, %count: tensor<i64> {graph.input = "count"})
    -> (tensor<f32>, tensor<i64>, tensor<2xf32> {graph.grad = "a"}, tensor<3xf32> {graph.grad = "b"}) attributes {graph.entry = #graph.purpose<train>} {
  return %sum, %count, %a, %b : tensor<f32>, tensor<i64>, tensor<2xf32>, tensor<3xf32>
}
}
