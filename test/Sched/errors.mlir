// What an action says of itself must agree, and it stands in a timeline.
// RUN: xlc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects parent op 'sched.timeline'}}
sched.collective all_gather @b

// -----

// expected-error @+1 {{has 0 micro-batches, but must have at least 1}}
sched.timeline @train stage 0 micro_batches 0 {
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{is in a timeline, which may contain only actions}}
  %0 = graph.constant dense<1.0> : tensor<f32>
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{reads 2 inputs into 1 values; these numbers must be equal}}
  %x = sched.load micro 0 ["x", "y"] : tensor<2xf32>
}

// -----

sched.timeline @train stage 0 micro_batches 2 {
  // expected-error @+1 {{has micro-batch 2, which must be 0 to 1}}
  %x = sched.load micro 2 ["x"] : tensor<2xf32>
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{has micro-batch -1, which must be 0 to 0}}
  sched.run @layer_F #graph.unit<"layer", 0> micro -1 () params [] stores [] accumulate [] : () -> ()
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{stores 1 results, but accumulate has 2 entries}}
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [true, true] : () -> ()
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{has role U, but must have F, B, I or W}}
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params [] stores [] accumulate [] role <U> : () -> ()
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train stage 0 micro_batches 1 {
  %x = sched.load micro 0 ["x"] : tensor<2xf32>
  // expected-error @+1 {{has message 0 and peer stage -1; both must be at least 0}}
  sched.send %x message 0 to -1 micro 0 : tensor<2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{has message -3 and peer stage 1; both must be at least 0}}
  %x = sched.receive message -3 from 1 micro 0 : tensor<2xf32>
}
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{has copies = 0, which must be at least 1}}
  sched.norm @b copies 0 accumulate false
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{refers to scalar '@loss', which is not one of @loss_sum, @loss_count, @sum_squares}}
  sched.zero_scalars ["@loss_sum", "@loss"]
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 1>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{refers to scalar 'loss_sum', which is not one of @loss_sum, @loss_count, @sum_squares}}
  sched.all_reduce_scalars ["loss_sum"] over <world, [2, 1], []>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{is an all_to_all; a bucket requires all_gather, reduce_scatter or all_reduce}}
  sched.collective all_to_all @b
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{of kind all_reduce must have an extent and a group}}
  sched.collective all_reduce @b
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{of kind all_gather must have neither an extent nor a group}}
  sched.collective all_gather @b of whole over <dp, [2, 1], []>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{accumulates the result of an all_gather; only a reduce_scatter may accumulate}}
  sched.collective all_gather @b accumulate
}
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{names bucket 'b', which does not exist}}
  sched.release @b
}

// -----

func.func private @b()
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{names bucket 'b', which does not exist}}
  sched.update @b
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{names bucket 'b', which does not exist}}
  sched.norm @b copies 1 accumulate false
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{names bucket 'b', which does not exist}}
  sched.collective all_gather @b
}
}

// -----

sched.bucket @scalars ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  // expected-error @+1 {{runs 'scalars', which is not a function of the module}}
  sched.scalars @scalars
}

// -----

// What evaluates says what it comes to.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
// expected-error @+1 {{has 0 sums and 0 sum types; a timeline for evaluation must have sums of tensor types, a timeline for training must not}}
sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> {
}
}

// -----

sched.timeline @train stage 0 micro_batches 1 {
  %0 = sched.load micro 0 ["x"] : tensor<2xf32>
  // expected-error @+1 {{stores outputs of the model in a training step}}
  sched.store micro 0 (%0) as ["x"] : tensor<2xf32>
}

// -----

sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  %0 = sched.load micro 0 ["x"] : tensor<2xf32>
  // expected-error @+1 {{stores 1 values as 2 outputs; these numbers must be equal and at least 1}}
  sched.store micro 0 (%0) as ["x", "y"] : tensor<2xf32>
}
