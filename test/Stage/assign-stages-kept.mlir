// Stages are balanced by the residuals that remain. Both cuts are as fast; what b keeps is its view of a, which backward
// makes again, and a quarter beside. Where the view counted as kept, b would be with c, on the stage that keeps one micro-batch's.
// RUN: xlc-opt %s --xlc-append-update --xlc-test-set-mesh=pp=2 --xlc-rematerialize-cheap-ops --xlc-assign-stages=micro-batches=2 | FileCheck %s --check-prefix=KEPT
// RUN: xlc-opt %s --xlc-append-update --xlc-test-set-mesh=pp=2 --xlc-assign-stages=micro-batches=2 | FileCheck %s --check-prefix=ALL
// RUN: not xlc-opt %s --xlc-append-update --xlc-test-set-mesh=pp=2 --xlc-assign-stages=micro-batches=2 --xlc-rematerialize-cheap-ops 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LATE
// LATE: error: stages are already assigned; this pass must run before, because it changes the residuals that are kept

// KEPT: graph.mul {{.*}}graph.chunk = 0{{.*}}<"a", 0>
// KEPT: graph.tanh {{.*}}graph.chunk = 0{{.*}}<"b", 0>
// KEPT: graph.mul {{.*}}graph.chunk = 1{{.*}}<"c", 0>
// ALL: graph.mul {{.*}}graph.chunk = 0{{.*}}<"a", 0>
// ALL: graph.tanh {{.*}}graph.chunk = 1{{.*}}<"b", 0>
// ALL: graph.mul {{.*}}graph.chunk = 1{{.*}}<"c", 0>
module attributes {graph.nominal_count = 8 : i64, graph.groups = [
    {kind = "adamw", lr = 0.1 : f64, beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
func.func @micro_batch(%x: tensor<64xf32> {graph.input = "x"}, %u: tensor<64xf32> {graph.param = "u", graph.frozen}, %w: tensor<64xf32> {graph.param = "w", graph.group = 0 : i64}, %sum: tensor<f32> {graph.input = "sum"},
                       %count: tensor<i64> {graph.input = "count"}) -> (tensor<f32>, tensor<i64>, tensor<8x8xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.mul %x, %u {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<F>} : tensor<64xf32>
  %v = graph.reshape %0 {graph.unit = #graph.unit<"b", 0>, graph.role = #graph.role<F>} : tensor<64xf32> -> tensor<8x8xf32>
  %s = graph.slice %0 from [0] by [1] {graph.unit = #graph.unit<"b", 0>, graph.role = #graph.role<F>} : tensor<64xf32> -> tensor<16xf32>
  %t = graph.tanh %s {graph.unit = #graph.unit<"b", 0>, graph.role = #graph.role<F>} : tensor<16xf32>
  %2 = graph.mul %x, %w {graph.unit = #graph.unit<"c", 0>, graph.role = #graph.role<F>} : tensor<64xf32>
  %dw = graph.mul %x, %x {graph.unit = #graph.unit<"c", 0>, graph.role = #graph.role<W>} : tensor<64xf32>
  %dv = graph.mul %v, %v {graph.unit = #graph.unit<"b", 0>, graph.role = #graph.role<I>} : tensor<8x8xf32>
  %dt = graph.mul %t, %t {graph.unit = #graph.unit<"b", 0>, graph.role = #graph.role<I>} : tensor<16xf32>
  %da = graph.mul %0, %0 {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<I>} : tensor<64xf32>
  return %sum, %count, %dv, %dt, %da, %dw : tensor<f32>, tensor<i64>, tensor<8x8xf32>, tensor<16xf32>, tensor<64xf32>, tensor<64xf32>
}
}
