// A gather does not start before the release of its own bucket, and one that updates a whole bucket is no prefetch.
// RUN: xlc-opt %s --xlc-prefetch-gathers=units=9 | FileCheck %s

// CHECK:      sched.all_gather @b
// CHECK-NEXT: sched.run @layer_F
// CHECK-NEXT: sched.release @b
// CHECK-NEXT: sched.all_gather @b
// CHECK-NEXT: sched.run @head_F
// CHECK-NEXT: sched.run @layer_B
// CHECK-NEXT: sched.release @b
// CHECK-NEXT: sched.run @embed_B
// CHECK-NEXT: sched.all_gather @whole
sched.bucket @b ["w"] at [0] sizes [2] elements 128 group 0 params shard grads shard states shard
sched.bucket @whole ["v"] at [0] sizes [2] elements 128 group 0 params whole grads shard states shard
sched.timeline @train ranks 2 shards 2 micro_batches 1 {
  sched.all_gather @b
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] : () -> ()
  sched.release @b
  sched.run @head_F #graph.unit<"head", 0> micro 0 () params [] stores [] accumulate [] : () -> ()
  sched.all_gather @b
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 () params ["w"] stores [] accumulate [] : () -> ()
  sched.release @b
  sched.run @embed_B #graph.unit<"embed", 0> micro 0 () params [] stores [] accumulate [] : () -> ()
  sched.all_gather @whole
}
