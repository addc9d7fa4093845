// Timelines of a second purpose beside those that train: they read the same bucket, have messages of their own, and neither
// gradients nor an update.
// RUN: xlc-opt %s --xlc-verify-timeline | FileCheck %s
// CHECK: sched.timeline @train_0 stage 0 micro_batches 1 {
// CHECK: sched.timeline @evaluate_0 stage 0 micro_batches 1 purpose <evaluate> attributes {sum_types = [tensor<f64>, tensor<i64>], sums = ["@loss_sum", "@targets"]} {
// CHECK: sched.timeline @evaluate_1 stage 1 micro_batches 1 purpose <evaluate> attributes
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
func.func private @scalars()
sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] : () -> tensor<2xf32>
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params ["w"] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.norm @b copies 1 accumulate false
  sched.zero_scalars ["@loss_sum", "@loss_count"]
  sched.all_reduce_scalars ["@loss_sum", "@loss_count"] over <world, [], [0, 1]>
  sched.all_reduce_scalars ["@sum_squares"] over <world, [], [0, 1]>
  sched.scalars @scalars
  sched.update @b
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  %x = sched.receive message 0 from 0 micro 0 : tensor<2xf32>
  sched.run @head_F #graph.unit<"head", 0> micro 0 (%x) params [] stores ["@loss_sum", "@loss_count"] accumulate [false, false] : (tensor<2xf32>) -> ()
  sched.zero_scalars ["@sum_squares"]
  sched.all_reduce_scalars ["@loss_sum", "@loss_count"] over <world, [], [0, 1]>
  sched.all_reduce_scalars ["@sum_squares"] over <world, [], [0, 1]>
  sched.scalars @scalars
}
sched.timeline @evaluate_0 stage 0 micro_batches 1 purpose <evaluate>
    attributes {sums = ["@loss_sum", "@targets"], sum_types = [tensor<f64>, tensor<i64>]} {
  %x = sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] : () -> tensor<2xf32>
  sched.send %x message 1 to 1 micro 0 : tensor<2xf32>
  sched.zero_scalars ["@loss_sum", "@targets"]
  sched.all_reduce_scalars ["@loss_sum", "@targets"] over <world, [], [0, 1]>
}
sched.timeline @evaluate_1 stage 1 micro_batches 1 purpose <evaluate>
    attributes {sums = ["@loss_sum", "@targets"], sum_types = [tensor<f64>, tensor<i64>]} {
  %x = sched.receive message 1 from 0 micro 0 : tensor<2xf32>
  %logits = sched.run @head_F #graph.unit<"head", 0> micro 0 (%x) params [] stores ["@loss_sum", "@targets"] accumulate [false, false] : (tensor<2xf32>) -> tensor<2x3xf32>
  // CHECK: sched.store micro 0(%{{.*}}) as ["logits"] : tensor<2x3xf32>
  sched.store micro 0 (%logits) as ["logits"] : tensor<2x3xf32>
  sched.all_reduce_scalars ["@loss_sum", "@targets"] over <world, [], [0, 1]>
}
}
