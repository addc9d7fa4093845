// Every way in which the timelines of several stages, or of tensor-parallel ranks, can be wrong.
// RUN: xlc-opt %s --xlc-verify-timeline --split-input-file --verify-diagnostics

// Every stage has its timeline, in order.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
// expected-error @+1 {{is for stage 1 of #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>; a step has one timeline per stage}}
sched.timeline @train_0 stage 1 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  // expected-error @+1 {{of stage 0 has a peer or group that is not valid for}}
  sched.send %x message 0 to 2 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

// A group that a stage itself is not in.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  sched.zero_scalars ["@loss_sum"]
  // expected-error @+1 {{of stage 0 has a peer or group that is not valid for}}
  sched.all_reduce_scalars ["@loss_sum"] over #dist.group<world, [1, 1], [1]>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

// Messages have one order, on every stage.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  sched.send %x message 1 to 1 micro 0 : tensor<2xf32>
  // expected-error @+1 {{has message number 0, but follows message number 1; the numbers must increase}}
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  %0 = sched.receive message 0 from 0 micro 0 : tensor<2xf32>
  %1 = sched.receive message 1 from 0 micro 0 : tensor<2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  // expected-error @+1 {{has message number 0, which another stage already uses}}
  sched.send %x message 0 to 0 micro 0 : tensor<2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  // expected-error @+1 {{sends message 0, which no stage receives}}
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  // expected-error @+1 {{waits for message 0, which no stage sends}}
  %0 = sched.receive message 0 from 0 micro 0 : tensor<2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 3, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
sched.timeline @train_2 stage 2 micro_batches 1 {
  // expected-error @+1 {{expects message 0 from stage 0, but stage 0 sends it to stage 1}}
  %0 = sched.receive message 0 from 0 micro 0 : tensor<2xf32>
}
}

// -----

// A transfer of the wrong micro-batch.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 2 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 2 {
  // expected-error @+1 {{expects micro-batch 1 in message 0, which belongs to micro-batch 0}}
  %0 = sched.receive message 0 from 0 micro 1 : tensor<2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  // expected-error @+1 {{expects 'tensor<3xf32>' in message 0, but the type of the message is 'tensor<2xf32>'}}
  %0 = sched.receive message 0 from 0 micro 0 : tensor<3xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 2 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  // expected-error @+1 {{of micro-batch 1 reads a value of micro-batch 0}}
  sched.send %x message 0 to 1 micro 1 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 2 {
}
}

// -----

// W of a micro-batch is left out.
// expected-error @+1 {{never runs @layer_W of unit #graph.unit<"layer", 0> for micro-batch 1}}
sched.timeline @train stage 0 micro_batches 2 {
  sched.run @layer_I #graph.unit<"layer", 0> micro 0 () params [] stores [] accumulate [] role <I> : () -> ()
  sched.run @layer_W #graph.unit<"layer", 0> micro 0 () params [] stores [] accumulate [] role <W> : () -> ()
  sched.run @layer_I #graph.unit<"layer", 0> micro 1 () params [] stores [] accumulate [] role <I> : () -> ()
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params [] stores [] accumulate [] : () -> ()
  // expected-error @+1 {{runs a second time for micro-batch 0}}
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params [] stores [] accumulate [] : () -> ()
}

// -----

// A tied gradient that grows after its stages have summed it.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {stages = array<i64: 0, 1>}
sched.timeline @train_0 stage 0 micro_batches 2 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective all_reduce @b of whole over #dist.group<pp, [1, 1], [0, 1]>
  // expected-error @+1 {{adds to the gradient of "w", which is already summed over ranks}}
  sched.run @layer_B #graph.unit<"layer", 0> micro 1 () params [] stores ["w"] accumulate [true] role <B> : () -> ()
}
sched.timeline @train_1 stage 1 micro_batches 2 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {stages = array<i64: 0, 1>}
sched.timeline @train_0 stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective all_reduce @b of whole over #dist.group<pp, [1, 1], [0, 1]>
  // expected-error @+1 {{sums bucket 'b' a second time}}
  sched.collective all_reduce @b of whole over #dist.group<pp, [1, 1], [0, 1]>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {stages = array<i64: 0, 1>}
sched.timeline @train_0 stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{uses the gradients of bucket 'b' before they are summed over the stages that share the bucket}}
  sched.norm @b copies 2 accumulate false
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

// A tied parameter that the norm counts twice.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {stages = array<i64: 0, 1>}
sched.timeline @train_0 stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective all_reduce @b of whole over #dist.group<pp, [1, 1], [0, 1]>
  // expected-error @+1 {{counts bucket 'b' as held by 1 ranks, but it is held by 2}}
  sched.norm @b copies 1 accumulate false
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {partial = #dist.group<tp, [2, 1], []>}
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{uses the gradients of bucket 'b' before their partial sums over #dist.group<tp, [2, 1], []> are added}}
  sched.norm @b copies 2 accumulate false
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {partial = #dist.group<tp, [2, 1], []>}
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{sums bucket 'b' over #dist.group<dp, [2, 1], []>, but the bucket is not a partial sum over this group}}
  sched.collective all_reduce @b of whole over #dist.group<dp, [2, 1], []>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 2, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {partial = #dist.group<tp, [2, 1], []>, stages = array<i64: 0, 1>}
sched.timeline @train_0 stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective all_reduce @b of whole over #dist.group<pp, [1, 1], [0, 1]>
  // expected-error @+1 {{sums bucket 'b' after the sum over stages}}
  sched.collective all_reduce @b of whole over #dist.group<tp, [2, 1], []>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {partial = #dist.group<tp, [2, 1], []>}
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{sums bucket 'b' with an extent (whole or shard) that this rank does not keep}}
  sched.collective all_reduce @b of shard over #dist.group<tp, [2, 1], []>
}
}

// -----

// Where tensor parallelism splits a parameter, no other rank counts it.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {layouts = [#dist.layout<[4] dim 0 outer 1 over #dist.group<tp, [2, 1], []>>]}
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{counts bucket 'b' as held by 2 ranks, but it is held by 1}}
  sched.norm @b copies 2 accumulate false
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  sched.run @head_F #graph.unit<"layer", 0> micro 0 () params [] stores ["@loss_sum"] accumulate [false] : () -> ()
  // expected-error @+1 {{overwrites "@loss_sum", which holds a contribution}}
  sched.zero_scalars ["@loss_sum"]
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  // expected-error @+1 {{sums "@loss_sum" before it exists}}
  sched.all_reduce_scalars ["@loss_sum"] over #dist.group<world, [1, 1], [0, 1]>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  sched.zero_scalars ["@loss_sum"]
  // expected-error @+1 {{sums "@loss_sum" over 1 ranks, but 2 hold parts of it}}
  sched.all_reduce_scalars ["@loss_sum"] over #dist.group<dp, [1, 1], []>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

// A bucket of another stage.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole {stages = array<i64: 1>}
sched.timeline @train_0 stage 0 micro_batches 1 {
  // expected-error @+1 {{names bucket 'b', which does not exist on this stage}}
  sched.release @b
}
sched.timeline @train_1 stage 1 micro_batches 1 {
}
}

// -----

// Each waits for the other: the actions are named.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
// expected-error @+1 {{deadlock: rank 0 waits for 'all_reduce_scalars', rank 1 waits for 'message 0 from stage 0 to 1, micro-batch 0'}}
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  sched.zero_scalars ["@loss_sum"]
  sched.all_reduce_scalars ["@loss_sum"] over #dist.group<world, [1, 1], [0, 1]>
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  sched.zero_scalars ["@loss_sum"]
  %0 = sched.receive message 0 from 0 micro 0 : tensor<2xf32>
  sched.all_reduce_scalars ["@loss_sum"] over #dist.group<world, [1, 1], [0, 1]>
}
}
