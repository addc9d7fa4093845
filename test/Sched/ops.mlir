// Every op of the dialect, as it is written. Two stages of two ranks each, ZeRO stage 3 on the first.
// RUN: xlc-opt %s | xlc-opt | FileCheck %s

// CHECK: sched.bucket @b ["w"] at [0] sizes [6] elements 128 group 0 params shard grads shard states shard
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [6] elements 128 group 0 params shard grads shard states shard

func.func private @scalars()

// CHECK: sched.timeline @train_0 stage 0 micro_batches 1
sched.timeline @train_0 stage 0 micro_batches 1 {
  // CHECK: %[[X:.*]] = sched.load micro 0 ["x"] : tensor<2x3xf32>
  %x = sched.load micro 0 ["x"] : tensor<2x3xf32>
  // CHECK: sched.collective all_gather @b
  sched.collective all_gather @b
  // CHECK: %[[Y:.*]] = sched.run @layer_F <"layer", 0> micro 0(%[[X]]) params ["w"] stores [] accumulate []
  %y = sched.run @layer_F #graph.unit<"layer", 0> micro 0 (%x) params ["w"] stores [] accumulate [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: sched.send %[[Y]] message 0 to 1 micro 0 : tensor<2x3xf32>
  sched.send %y message 0 to 1 micro 0 : tensor<2x3xf32>
  // CHECK: %[[DY:.*]] = sched.receive message 1 from 1 micro 0 : tensor<2x3xf32>
  %dy = sched.receive message 1 from 1 micro 0 : tensor<2x3xf32>
  // CHECK: sched.run @layer_B {{.*}} stores ["w"] accumulate [false]
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 (%x, %dy) params ["w"] stores ["w"] accumulate [false] role <B> : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  // CHECK: sched.release @b
  sched.release @b
  // CHECK: sched.collective reduce_scatter @b
  sched.collective reduce_scatter @b
  // CHECK: sched.collective all_reduce @b of shard over <dp, [2, 1], []>
  sched.collective all_reduce @b of shard over <dp, [2, 1], []>
  // CHECK: sched.norm @b copies 1 accumulate false
  sched.norm @b copies 1 accumulate false
  // CHECK: sched.zero_scalars ["@loss_sum", "@loss_count"]
  sched.zero_scalars ["@loss_sum", "@loss_count"]
  // CHECK: sched.all_reduce_scalars ["@loss_sum", "@loss_count", "@sum_squares"] over <world, [2, 1], [0, 1]>
  sched.all_reduce_scalars ["@loss_sum", "@loss_count", "@sum_squares"] over <world, [2, 1], [0, 1]>
  // CHECK: sched.scalars @scalars
  sched.scalars @scalars
  // CHECK: sched.update @b
  sched.update @b
}
}
