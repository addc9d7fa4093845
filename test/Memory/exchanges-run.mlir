// Two tensor-parallel ranks (and two shards) with three classes: the second rank's columns are one and a padded one. Every
// kind of exchange is in a unit function, and the rank's index.
// RUN: xlc-opt %S/../Interpret/Inputs/linear.mlir --xlc-differentiate --xlc-append-update -o %t.mlir
// RUN: xlc-opt %s --xlc-normalize-reductions --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement -o %t.exec
// RUN: FileCheck %s < %t.exec
// RUN: xlc-opt %t.exec --xlc-verify-against=reference=%t.mlir | FileCheck %s --check-prefix=EQUAL
// EQUAL: over 2 steps of 4 ranks x 1 micro-batch
// EQUAL: all equal

// The index is one buffer, bound by every run.
// CHECK: exec.program @train
// CHECK: exec.buffer [[#INDEX:]] workspace "tp index" size 8 {{.*}} persistent
// CHECK: exec.state index over <tp, [2, 1], []> 1 x i64 begins index at <[[#INDEX]] + 0 + 0>

// The logits are gathered along their last dimension: runs of two.
// CHECK-LABEL: func.func private @linear_F(
// CHECK: exec.call {{.*}} outs([[Y:%arg[0-9]+]] : memref<2x2xf32>)
// CHECK-NEXT: exec.collective all_gather [[Y]] to %{{.*}} over <tp, [2, 1], []> outer 2 chunk 2 : memref<2x2xf32>, memref<2x4xf32>
// What only the all_reduce reads is made where the sum will be; what others read is not touched.
// CHECK-LABEL: func.func private @linear_B(
// CHECK-SAME: [[I:%arg[0-9]+]]: memref<i64> {exec.index = #dist.group<tp, [2, 1], []>
// CHECK: exec.collective all_reduce [[S:%arg[0-9]+]] to [[S]] over
// CHECK: exec.collective all_reduce_max [[M:%arg[0-9]+]] to %{{.*}} over
// CHECK: exec.collective reduce_scatter %{{.*}} to %{{.*}} over <tp, [2, 1], []> outer 2 chunk 2
// CHECK: exec.call {{.*}}[[I]]
// A gradient may be added to, so it is copied out of the exchange.
// CHECK: exec.collective reduce_scatter %{{.*}} to [[G:%arg[0-9]+]] over
// CHECK: exec.call {{.*}} ins([[G]] {{.*}} outs([[STORE:%arg[0-9]+]]

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 2, shards = 2>, graph.groups = [
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64, momentum = 0.0 : f64},
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
sched.bucket @bw ["w"] at [0] sizes [4] elements 128 group 0 params shard grads shard states shard
    {layouts = [#dist.layout<[2, 3] dim 1 outer 1 over <tp, [2, 1], []>>]}
sched.bucket @bb ["b"] at [64] sizes [2] elements 128 group 1 params whole grads whole states shard
    {layouts = [#dist.layout<[3] dim 0 outer 1 over <tp, [2, 1], []>>]}
sched.timeline @train stage 0 micro_batches 1 {
  %x, %y = sched.load micro 0 ["x", "y"] : tensor<2x2xf32>, tensor<2xi64>
  sched.collective all_gather @bw
  %logits = sched.run @linear_F #graph.unit<"linear", 0> micro 0 (%x) params ["w", "b"] stores [] accumulate [] : (tensor<2x2xf32>) -> tensor<2x3xf32>
  sched.release @bw
  %d = sched.run @loss #graph.unit<"loss", 0> micro 0 (%logits, %y) params [] stores ["@loss_sum", "@loss_count"] accumulate [false, false] : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  sched.run @linear_B #graph.unit<"linear", 0> micro 0 (%x, %d) params [] stores ["w", "b"] accumulate [false, false] role <B> : (tensor<2x2xf32>, tensor<2x3xf32>) -> ()
  sched.collective reduce_scatter @bw
  sched.collective reduce_scatter @bb
  sched.norm @bw copies 1 accumulate false
  sched.norm @bb copies 1 accumulate true
  sched.all_reduce_scalars ["@loss_sum", "@loss_count"] over <dp, [2, 2], []>
  sched.all_reduce_scalars ["@sum_squares"] over <world, [2, 2, 2, 1], []>
  sched.scalars @scalars
  sched.update @bw
  sched.update @bb
  sched.collective all_gather @bb
}

func.func private @linear_F(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.broadcast %b : tensor<2xf32> -> tensor<2x2xf32>
  %2 = graph.add %0, %1 : tensor<2x2xf32>
  %3 = dist.all_gather %2 dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x2xf32> -> tensor<2x4xf32>
  %4 = graph.slice %3 from [0, 0] by [1, 1] : tensor<2x4xf32> -> tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}
// d is the sum of two halves, and the largest of two equals; a rank's columns are twice in the sum of both ranks' d, and
// once at the rank's index.
func.func private @linear_B(%x: tensor<2x2xf32>, %d: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %half = graph.scale %d by 1 over 2 : tensor<2x3xf32>
  %sum = dist.all_reduce sum %half over <tp, [2, 1], []> : tensor<2x3xf32>
  %twice = graph.scale %sum by 2 over 1 : tensor<2x3xf32>
  %largest = dist.all_reduce max %twice over <tp, [2, 1], []> : tensor<2x3xf32>
  %zero = graph.sub %twice, %largest : tensor<2x3xf32>
  %again = graph.add %zero, %sum : tensor<2x3xf32>
  %none = graph.constant dense<0.0> : tensor<f32>
  %padded = graph.pad %again, %none low [0, 0] high [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %both = dist.reduce_scatter %padded dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x4xf32> -> tensor<2x2xf32>
  %index = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  %indices = graph.broadcast %index : tensor<i64> -> tensor<2xi64>
  %first = graph.add %indices, %indices : tensor<2xi64>
  %place = graph.iota dim 0 : tensor<2xi64>
  %places = graph.add %first, %place : tensor<2xi64>
  %mine = graph.gather %padded, %places dim 1 : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %three = graph.add %both, %mine : tensor<2x2xf32>
  %own = graph.scale %three by 1 over 3 : tensor<2x2xf32>
  %dw = graph.contract "ab,ac->bc" %x, %own : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %all = graph.reduce sum %padded dims [0] : tensor<2x4xf32> -> tensor<4xf32>
  %halves = graph.scale %all by 1 over 2 : tensor<4xf32>
  %db = dist.reduce_scatter %halves dim 0 outer 1 over <tp, [2, 1], []> : tensor<4xf32> -> tensor<2xf32>
  return %dw, %db : tensor<2x2xf32>, tensor<2xf32>
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
func.func @scalars(%sum: tensor<f32>, %count: tensor<i64>, %squares: tensor<f64>, %applied: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
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
