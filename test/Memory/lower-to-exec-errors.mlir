// A product that sums over two dimensions, which lie in another order in each operand, is no call of a library.
// RUN: not xlc-opt %s --xlc-form-kernels --xlc-lower-to-exec 2>&1 | FileCheck %s
// CHECK: error: no library call supports the layouts of the operands and results

module attributes {graph.groups = [{kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
sched.bucket @b ["w"] at [0] sizes [16] elements 16 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<4x4xf32>
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 (%x) params ["w"] stores ["@loss_sum", "@loss_count"] accumulate [false, false] : (tensor<4x4xf32>) -> ()
}
func.func private @layer_F(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<f32>, tensor<i64>) {
  %0 = graph.contract "ab,ba->" %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  %1 = graph.constant dense<4> : tensor<i64>
  return %0, %1 : tensor<f32>, tensor<i64>
}
}
