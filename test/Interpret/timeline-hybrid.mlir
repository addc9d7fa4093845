// Hybrid sharding: shards within two ranks, sums over the two replicas of each slice.
// RUN: xlc-opt %S/Inputs/linear.mlir --xlc-differentiate --xlc-append-update -o %t.mlir
// RUN: xlc-opt %s --xlc-verify-against=reference=%t.mlir | FileCheck %s
// CHECK: over 2 steps of 4 ranks x 2 micro-batches
// CHECK: all equal

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 4, tp = 1, shards = 2>} {
sched.bucket @bw ["w"] at [0] sizes [6] elements 8 group 0 params whole grads shard states shard
sched.bucket @bb ["b"] at [1] sizes [3] elements 8 group 1 params whole grads shard states shard
sched.timeline @train stage 0 micro_batches 2 {
  %x0, %y0 = sched.load micro 0 ["x", "y"] : tensor<2x2xf32>, tensor<2xi64>
  %logits0 = sched.run @linear_F #graph.unit<"all", 0> micro 0 (%x0) params ["w", "b"] stores [] accumulate [] : (tensor<2x2xf32>) -> tensor<2x3xf32>
  %d0 = sched.run @loss #graph.unit<"all", 0> micro 0 (%logits0, %y0) params [] stores ["@loss_sum", "@loss_count"] accumulate [false, false] : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  sched.run @linear_B #graph.unit<"all", 0> micro 0 (%x0, %d0) params [] stores ["w", "b"] accumulate [false, false] role <B> : (tensor<2x2xf32>, tensor<2x3xf32>) -> ()
  sched.collective reduce_scatter @bw
  sched.collective reduce_scatter @bb
  %x1, %y1 = sched.load micro 1 ["x", "y"] : tensor<2x2xf32>, tensor<2xi64>
  %logits1 = sched.run @linear_F #graph.unit<"all", 0> micro 1 (%x1) params ["w", "b"] stores [] accumulate [] : (tensor<2x2xf32>) -> tensor<2x3xf32>
  %d1 = sched.run @loss #graph.unit<"all", 0> micro 1 (%logits1, %y1) params [] stores ["@loss_sum", "@loss_count"] accumulate [true, true] : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  sched.run @linear_B #graph.unit<"all", 0> micro 1 (%x1, %d1) params [] stores ["w", "b"] accumulate [false, false] role <B> : (tensor<2x2xf32>, tensor<2x3xf32>) -> ()
  sched.collective reduce_scatter @bw accumulate
  sched.collective reduce_scatter @bb accumulate
  sched.collective all_reduce @bw of shard over <dp, [2, 2], []>
  sched.collective all_reduce @bb of shard over <dp, [2, 2], []>
  sched.norm @bw copies 1 accumulate false
  sched.norm @bb copies 1 accumulate true
  sched.all_reduce_scalars ["@loss_sum", "@loss_count"] over <dp, [4, 1], []>
  sched.all_reduce_scalars ["@sum_squares"] over <dp, [2, 1], []>
  sched.scalars @scalars
  sched.update @bw
  sched.update @bb
  sched.collective all_gather @bw
  sched.collective all_gather @bb
}

func.func private @linear_F(%x: tensor<2x2xf32>, %w: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.broadcast %b : tensor<3xf32> -> tensor<2x3xf32>
  %2 = graph.add %0, %1 : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
func.func private @loss(%logits: tensor<2x3xf32>, %y: tensor<2xi64>) -> (tensor<2x3xf32>, tensor<f32>, tensor<i64>) {
  %sum, %count, %lse = graph.cross_entropy %logits, %y ignore -100
      : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  %one = graph.constant dense<1.0> : tensor<f32>
  %seed = graph.scale %one by 1 over 16 : tensor<f32>
  %d = graph.cross_entropy_backward %logits, %y, %lse, %seed ignore -100
      : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %d, %sum, %count : tensor<2x3xf32>, tensor<f32>, tensor<i64>
}
func.func private @linear_B(%x: tensor<2x2xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %dw = graph.contract "ab,ac->bc" %x, %d : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %db = graph.reduce sum %d dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  return %dw, %db : tensor<2x3xf32>, tensor<3xf32>
}
func.func private @scalars(%sum: tensor<f32>, %count: tensor<i64>, %squares: tensor<f64>, %applied: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %s = graph.cast %sum : tensor<f32> -> tensor<f64>
  %n = graph.cast %count : tensor<i64> -> tensor<f64>
  %loss = graph.div %s, %n : tensor<f64>
  %nominal = graph.constant dense<16.0> : tensor<f64>
  %ratio = graph.div %nominal, %n : tensor<f64>
  %root = graph.sqrt %squares : tensor<f64>
  %norm = graph.mul %root, %ratio : tensor<f64>
  %small = graph.constant dense<1.0e-6> : tensor<f64>
  %one = graph.constant dense<1.0> : tensor<f64>
  %reachable = graph.add %norm, %small : tensor<f64>
  %factor = graph.div %one, %reachable : tensor<f64>
  %least = graph.min %factor, %one : tensor<f64>
  %scale = graph.mul %ratio, %least : tensor<f64>
  %0 = graph.cast %loss : tensor<f64> -> tensor<f32>
  %1 = graph.cast %norm : tensor<f64> -> tensor<f32>
  %2 = graph.cast %scale : tensor<f64> -> tensor<f32>
  return %0, %1, %2, %applied : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
}
