// Stage 3 on two ranks: the whole of a bucket lives from its gather to its release, the whole gradient to its scatter.
// RUN: xlc-opt %s --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement | FileCheck %s

// CHECK: exec.buffer 0 parameters "b" size 256 {{.*}} persistent
// CHECK: exec.buffer [[X:[0-9]+]] residuals "x" size 64
// CHECK: exec.buffer [[W:[0-9]+]] communication "b gathered" size 512 {{.*}} live 2 to 4
// CHECK: exec.buffer [[G:[0-9]+]] gradients "b/gradient" size 512 {{.*}} live 5 to 7
// CHECK: exec.buffer [[S:[0-9]+]] gradients "b/gradient shard" size 256 {{.*}} live 7 to 13

// CHECK: exec.exchange all_gather "all_gather b" over <dp, [2, 1], []> <0 + 0 + 0> to <[[W]] + 0 + 0> count 64 f32
// CHECK-NEXT: exec.run @layer_F "layer[0] F" {{.*}} [#exec.place<[[X]] + 0 + 0>, #exec.place<[[W]] + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<1 + 64 + 0>
// CHECK-NEXT: exec.release "release b" <[[W]] + 0 + 0> bytes 512
// CHECK: exec.run @layer_B
// CHECK-NEXT: exec.exchange reduce_scatter "reduce_scatter b" over <dp, [2, 1], []> <[[G]] + 0 + 0> to <[[S]] + 0 + 0> count 64 f32
// CHECK-NEXT: exec.run @norm_64 "norm b" {{.*}} [#exec.place<[[S]] + 0 + 0>
// Loss and count of all ranks; squares of slices once per shard group.
// CHECK-NEXT: exec.exchange all_reduce "all_reduce loss_sum" over <dp, [2, 1], []> <1 + 0 + 0> to <1 + 0 + 0> count 1 f32
// CHECK-NEXT: exec.exchange all_reduce "all_reduce loss_count" over <dp, [2, 1], []> <1 + 64 + 0> to <1 + 64 + 0> count 1 i64
// CHECK-NEXT: exec.exchange all_reduce "all_reduce sum_squares" over <dp, [2, 1], []> <1 + 128 + 0> to <1 + 128 + 0> count 1 f64
// CHECK: exec.run @update_0_64 "update b" {{.*}} [#exec.place<0 + 0 + 0>, #exec.place<[[S]] + 0 + 0>
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>, graph.groups = [{kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
sched.bucket @b ["w"] at [0] sizes [16] elements 128 group 0 params shard grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<4x4xf32>
  sched.collective all_gather @b
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 (%x) params ["w"] stores ["@loss_sum", "@loss_count"] accumulate [false, false] : (tensor<4x4xf32>) -> ()
  sched.release @b
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 (%x) params [] stores ["w"] accumulate [false] role <B> : (tensor<4x4xf32>) -> ()
  sched.collective reduce_scatter @b
  sched.norm @b copies 1 accumulate false
  sched.all_reduce_scalars ["@loss_sum", "@loss_count"] over <dp, [2, 1], []>
  sched.all_reduce_scalars ["@sum_squares"] over <dp, [2, 1], []>
  sched.scalars @scalars
  sched.update @b
}
func.func private @kernel_F(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<f32>, tensor<i64>) attributes {exec.kind = #exec.kernel<all>} {
  %0 = graph.reduce sum %x dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %1 = graph.constant dense<4> : tensor<i64>
  return %0, %1 : tensor<f32>, tensor<i64>
}
func.func private @kernel_B(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %0 = graph.exp %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @layer_F(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<f32>, tensor<i64>) {
  %0, %1 = call @kernel_F(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<f32>, tensor<i64>)
  return %0, %1 : tensor<f32>, tensor<i64>
}
func.func private @layer_B(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @kernel_B(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @scalars(%sum: tensor<f32>, %count: tensor<i64>, %squares: tensor<f64>, %applied: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %sum, %sum, %sum, %applied : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
}
