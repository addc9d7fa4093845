// Every way in which a timeline can be wrong, each with what the gate says of it.
// RUN: xlc-opt %s --xlc-verify-timeline --split-input-file --verify-diagnostics

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{names bucket 'b', which does not exist}}
  sched.collective all_gather @b
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole
// expected-error @+1 {{never updates bucket 'b'}}
sched.timeline @train stage 0 micro_batches 1 {
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{reads parameter "w", which does not belong to a bucket}}
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] : () -> ()
}
}

// -----

// After its release a parameter must be gathered again.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params shard grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  sched.collective all_gather @b
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] : () -> ()
  sched.release @b
  // expected-error @+1 {{reads parameter "w" of bucket 'b', which is not gathered here}}
  sched.run @layer_F #graph.unit<"layer", 1> micro 0 () params ["w"] stores [] accumulate [] : () -> ()
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{adds to "w", which was not written}}
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [true] role <B> : () -> ()
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 2 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{overwrites "w", which holds an earlier contribution}}
  sched.run @layer_B #graph.unit<"layer", 0> micro 1 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params shard grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{releases a bucket that is not gathered}}
  sched.release @b
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["v", "w"] at [0, 64] sizes [2, 2] elements 128 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["v"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{sums the gradient of "w" before it exists}}
  sched.collective all_reduce @b of whole over <dp, [2, 1], []>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective all_reduce @b of whole over <dp, [2, 1], []>
  // expected-error @+1 {{sums the gradient of "w" a second time}}
  sched.collective all_reduce @b of whole over <dp, [2, 1], []>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{adds to a sum that does not exist}}
  sched.collective reduce_scatter @b accumulate
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads shard states shard
sched.timeline @train stage 0 micro_batches 2 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective reduce_scatter @b
  sched.run @layer_B #graph.unit<"layer", 0> micro 1 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{overwrites the sum of earlier micro-batches}}
  sched.collective reduce_scatter @b
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 4, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{sums over replicas a value that is not the complete sum of a shard group}}
  sched.collective all_reduce @b of shard over <dp, [2, 2], []>
}
}

// -----

sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{uses the gradient of "w" before it exists}}
  sched.norm @b copies 1 accumulate false
}

// -----

// Hybrid sharding: the sum of one shard group is not yet that of all ranks.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 4, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective reduce_scatter @b
  // expected-error @+1 {{uses the gradients of bucket 'b' before they are summed over all ranks}}
  sched.norm @b copies 1 accumulate false
}
}

// -----

// A reduction after the first of two micro-batches leaves the second one out.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 2 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective all_reduce @b of whole over <dp, [2, 1], []>
  sched.run @layer_B #graph.unit<"layer", 0> micro 1 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{uses the gradients of bucket 'b' before they are summed over all ranks}}
  sched.norm @b copies 1 accumulate false
}
}

// -----

sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.norm @b copies 1 accumulate false
  // expected-error @+1 {{counts a bucket twice}}
  sched.norm @b copies 1 accumulate true
}

// -----

sched.bucket @b ["v"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.bucket @c ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["v", "w"] accumulate [false, false] role <B> : () -> ()
  sched.norm @b copies 1 accumulate false
  // expected-error @+1 {{overwrites the sum of squares of other buckets}}
  sched.norm @c copies 1 accumulate false
}

// -----

sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{adds to a sum of squares that does not exist}}
  sched.norm @b copies 1 accumulate true
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  sched.all_reduce_scalars ["@loss_sum"] over <dp, [2, 1], []>
  // expected-error @+1 {{sums "@loss_sum" twice}}
  sched.all_reduce_scalars ["@loss_count", "@loss_sum"] over <dp, [2, 1], []>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
func.func private @scalars()
sched.timeline @train stage 0 micro_batches 1 {
  sched.all_reduce_scalars ["@loss_sum"] over <dp, [2, 1], []>
  sched.all_reduce_scalars ["@sum_squares"] over <dp, [2, 1], []>
  // expected-error @+1 {{uses @loss_count before it is summed over all ranks}}
  sched.scalars @scalars
}
}

// -----

func.func private @scalars()
sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  // expected-error @+1 {{uses a norm that does not include bucket 'b'}}
  sched.scalars @scalars
}

// -----

sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.norm @b copies 1 accumulate false
  // expected-error @+1 {{runs before the factor on the gradients is computed}}
  sched.update @b
}

// -----

func.func private @scalars()
sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.norm @b copies 1 accumulate false
  sched.scalars @scalars
  sched.update @b
  // expected-error @+1 {{updates a bucket twice}}
  sched.update @b
}

// -----

// Each rank has updated its slice; the others' are those of before.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
func.func private @scalars()
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params whole grads whole states shard
// expected-error @+1 {{ends before the updated slices of bucket 'b' are gathered}}
sched.timeline @train stage 0 micro_batches 1 {
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
  sched.collective reduce_scatter @b
  sched.norm @b copies 1 accumulate false
  sched.all_reduce_scalars ["@loss_sum", "@loss_count"] over <dp, [2, 1], []>
  sched.all_reduce_scalars ["@sum_squares"] over <dp, [2, 1], []>
  sched.scalars @scalars
  sched.update @b
}
}
