// What only a timeline that trains may do, and what timelines of several purposes must not share.
// RUN: xlc-opt %s --xlc-verify-timeline --split-input-file --verify-diagnostics

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  // expected-error @+1 {{changes persistent state in a timeline that does not train}}
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params [] stores ["w"] accumulate [false] role <B> : () -> ()
}
}

// -----

// A running average, which forward replaces.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["mean"] at [0] sizes [2] elements 64 group -2 params whole grads whole states whole
sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  // expected-error @+1 {{changes persistent state in a timeline that does not train}}
  sched.run @norm_F #graph.unit<"norm", 0> micro 0 () params ["mean"] stores ["mean"] accumulate [false] : () -> ()
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 64 group 0 params whole grads whole states whole
sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  // expected-error @+1 {{changes persistent state in a timeline that does not train}}
  sched.update @b
}
}

// -----

// What it comes to is summed over all ranks.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 1>} {
// expected-error @+1 {{ends before its sum "@loss_sum" is reduced over all ranks}}
sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  sched.run @head_E #graph.unit<"head", 0> micro 0 () params [] stores ["@loss_sum"] accumulate [false] : () -> ()
}
}

// -----

// Each of its sums is made.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
// expected-error @+1 {{never computes its sum "@loss_sum"}}
sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
}
}

// -----

// Each purpose has timelines for all stages.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train stage 0 micro_batches 1 {
}
// expected-error @+1 {{is for stage 0 of #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>; a step has one timeline per stage, in order}}
sched.timeline @evaluate_0 stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
}
sched.timeline @evaluate_1 stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
}
}

// -----

// A message has one number in the module.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
sched.timeline @train_0 stage 0 micro_batches 1 {
  %x = sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params [] stores [] accumulate [] : () -> tensor<2xf32>
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  %x = sched.receive message 0 from 0 micro 0 : tensor<2xf32>
}
sched.timeline @evaluate_0 stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  %x = sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params [] stores [] accumulate [] : () -> tensor<2xf32>
  // expected-error @+1 {{has message number 0, which another stage already uses}}
  sched.send %x message 0 to 1 micro 0 : tensor<2xf32>
  sched.zero_scalars ["@loss_sum"]
  sched.all_reduce_scalars ["@loss_sum"] over <world, [], [0, 1]>
}
sched.timeline @evaluate_1 stage 1 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  %x = sched.receive message 0 from 0 micro 0 : tensor<2xf32>
  sched.zero_scalars ["@loss_sum"]
  sched.all_reduce_scalars ["@loss_sum"] over <world, [], [0, 1]>
}
}

// -----

// An output of the model is stored once for each micro-batch.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
// expected-error @+1 {{never stores output "logits" for micro-batch 1}}
sched.timeline @evaluate stage 0 micro_batches 2 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  %0 = sched.run @head_E #graph.unit<"head", 0> micro 0 () params [] stores ["@loss_sum"] accumulate [false] : () -> tensor<2xf32>
  %1 = sched.run @head_E #graph.unit<"head", 0> micro 1 () params [] stores ["@loss_sum"] accumulate [true] : () -> tensor<2xf32>
  sched.store micro 0 (%0) as ["logits"] : tensor<2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
sched.timeline @evaluate stage 0 micro_batches 1 purpose <evaluate> attributes {sums = ["@loss_sum"], sum_types = [tensor<f64>]} {
  %0 = sched.run @head_E #graph.unit<"head", 0> micro 0 () params [] stores ["@loss_sum"] accumulate [false] : () -> tensor<2xf32>
  sched.store micro 0 (%0) as ["logits"] : tensor<2xf32>
  // expected-error @+1 {{stores output "logits" a second time for micro-batch 0}}
  sched.store micro 0 (%0) as ["logits"] : tensor<2xf32>
}
}
