// A gather starts up to `units` runs before its use, never beyond an action on its own bucket or another gather.
// RUN: xlc-opt %s --xlc-prefetch-gathers=units=1 | FileCheck %s --check-prefix=ONE
// RUN: xlc-opt %s --xlc-prefetch-gathers=units=2 | FileCheck %s --check-prefix=TWO
// RUN: xlc-opt %s --xlc-prefetch-gathers=units=0 | FileCheck %s --check-prefix=ZERO
// RUN: xlc-opt %s --xlc-prefetch-gathers='units=2 bytes=1023' | FileCheck %s --check-prefix=ZERO
// RUN: xlc-opt %s --xlc-prefetch-gathers='units=2 bytes=1024' | FileCheck %s --check-prefix=BYTES

// ONE:      sched.collective all_gather @b0
// ONE-NEXT: sched.collective all_gather @b1
// ONE-NEXT: sched.run @layer_F <"layer", 0>
// ONE-NEXT: sched.release @b0
// ONE-NEXT: sched.collective all_gather @b2
// ONE-NEXT: sched.run @layer_F <"layer", 1>
// ONE-NEXT: sched.release @b1
// ONE-NEXT: sched.run @layer_F <"layer", 2>

// The gather of b2 would cross that of b1: order among gathers stays.
// TWO:      sched.collective all_gather @b0
// TWO-NEXT: sched.collective all_gather @b1
// TWO-NEXT: sched.collective all_gather @b2
// TWO-NEXT: sched.run @layer_F <"layer", 0>
// TWO-NEXT: sched.release @b0
// TWO-NEXT: sched.run @layer_F <"layer", 1>
// TWO-NEXT: sched.release @b1
// TWO-NEXT: sched.run @layer_F <"layer", 2>

// ZERO:      sched.collective all_gather @b0
// ZERO-NEXT: sched.run @layer_F <"layer", 0>
// ZERO-NEXT: sched.release @b0
// ZERO-NEXT: sched.collective all_gather @b1
// ZERO-NEXT: sched.run @layer_F <"layer", 1>
// ZERO-NEXT: sched.release @b1
// ZERO-NEXT: sched.collective all_gather @b2
// ZERO-NEXT: sched.run @layer_F <"layer", 2>

// 1024 bytes hold two buckets of 128 elements, so b2 waits for the release of b0.
// BYTES:      sched.collective all_gather @b0
// BYTES-NEXT: sched.collective all_gather @b1
// BYTES-NEXT: sched.run @layer_F <"layer", 0>
// BYTES-NEXT: sched.release @b0
// BYTES-NEXT: sched.collective all_gather @b2
// BYTES-NEXT: sched.run @layer_F <"layer", 1>
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b0 ["w0"] at [0] sizes [2] elements 128 group 0 params shard grads shard states shard
sched.bucket @b1 ["w1"] at [0] sizes [2] elements 128 group 0 params shard grads shard states shard
sched.bucket @b2 ["w2"] at [0] sizes [2] elements 128 group 0 params shard grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  sched.collective all_gather @b0
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params ["w0"] stores [] accumulate [] : () -> ()
  sched.release @b0
  sched.collective all_gather @b1
  sched.run @layer_F #graph.unit<"layer", 1> micro 0 () params ["w1"] stores [] accumulate [] : () -> ()
  sched.release @b1
  sched.collective all_gather @b2
  sched.run @layer_F #graph.unit<"layer", 2> micro 0 () params ["w2"] stores [] accumulate [] : () -> ()
  sched.release @b2
}
}
