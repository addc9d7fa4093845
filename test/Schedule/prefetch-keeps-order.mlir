// A gather never crosses an action on its own bucket; where that is its release, within reach, neither is needed. One that
// updates a whole bucket is no prefetch.
// RUN: xlc-opt %s --xlc-prefetch-gathers=units=1 | FileCheck %s --check-prefix=KEPT
// RUN: xlc-opt %s --xlc-prefetch-gathers=units=0 | FileCheck %s --check-prefix=ORDER
// RUN: xlc-opt %s --xlc-prefetch-gathers='units=1 bytes=511' | FileCheck %s --check-prefix=ORDER

// KEPT:      sched.collective all_gather @b
// KEPT-NEXT: sched.run @layer_F
// KEPT-NEXT: sched.run @head_F
// KEPT-NEXT: sched.run @layer_B
// KEPT-NEXT: sched.release @b
// KEPT-NEXT: sched.run @embed_B
// KEPT-NEXT: sched.collective all_gather @whole

// ORDER:      sched.collective all_gather @b
// ORDER-NEXT: sched.run @layer_F
// ORDER-NEXT: sched.release @b
// ORDER-NEXT: sched.run @head_F
// ORDER-NEXT: sched.collective all_gather @b
// ORDER-NEXT: sched.run @layer_B
// ORDER-NEXT: sched.release @b
// ORDER-NEXT: sched.run @embed_B
// ORDER-NEXT: sched.collective all_gather @whole
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params shard grads shard states shard
sched.bucket @whole ["v"] at [0] sizes [2] elements 128 group 0 params whole grads shard states shard
sched.timeline @train stage 0 micro_batches 1 {
  sched.collective all_gather @b
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] : () -> ()
  sched.release @b
  sched.run @head_F #graph.unit<"head", 0> micro 0 () params [] stores [] accumulate [] : () -> ()
  sched.collective all_gather @b
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] role <B> : () -> ()
  sched.release @b
  sched.run @embed_B #graph.unit<"embed", 0> micro 0 () params [] stores [] accumulate [] role <B> : () -> ()
  sched.collective all_gather @whole
}
}
