// Two pipeline stages of two ranks: layer and loss, one after the other micro-batch by micro-batch; the bias is on both
// stages, and the second contributes nothing to its gradient.
// RUN: xlc-opt %S/../Interpret/Inputs/linear.mlir --xlc-differentiate --xlc-append-update -o %t.mlir
// RUN: xlc-opt %s --xlc-normalize-reductions --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement -o %t.exec
// RUN: FileCheck %s < %t.exec
// RUN: xlc-opt %t.exec --xlc-verify-against=reference=%t.mlir | FileCheck %s --check-prefix=EQUAL
// EQUAL: over 2 steps of 4 ranks x 2 micro-batches
// EQUAL: all equal

// One program per stage, each with buffers of its own. What is received is kept for backward, or is on its way only.
// CHECK: exec.program @train_0 stage 0 micro_batches 2
// CHECK: exec.buffer {{[0-9]+}} parameters "bw"
// CHECK: exec.buffer {{[0-9]+}} communication "linear[0] F/
// CHECK: exec.buffer [[#D:]] residuals "receive 1 from 1"
// CHECK: exec.send "send 0 to 1" message 0 to 1
// CHECK: exec.receive "receive 1 from 1" message 1 from 1 <[[#D]] + 0 + 0> bytes 24
// CHECK: exec.run @linear_B "linear[0] B" micro 0 first true [{{.*}}<[[#D]] + 0 + 0>
// The norm counts a half of the squares on each of the two stages that hold the bias.
// CHECK: exec.run @norm_64_of_2 "norm bb"
// CHECK: exec.run @zero_loss_sum "clear loss_sum"
// CHECK: exec.exchange all_reduce "all_reduce loss_sum" over <world, [2, 1], [0, 1]>
// CHECK: exec.program @train_1 stage 1 micro_batches 2
// CHECK-NOT: parameters "bw"
// CHECK: exec.buffer {{[0-9]+}} communication "receive 0 from 0"
// CHECK: exec.run @norm_64_of_2 "norm bb"
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2, tp = 1, shards = 2>, graph.groups = [
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64, momentum = 0.0 : f64},
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
sched.bucket @bw ["w"] at [0] sizes [6] elements 128 group 0 params whole grads whole states whole
sched.bucket @bb ["b"] at [0] sizes [3] elements 128 group 1 params whole grads whole states whole {stages = array<i64: 0, 1>}
sched.timeline @train_0 stage 0 micro_batches 2 {
  %x0 = sched.load micro 0 ["x"] : tensor<2x2xf32>
  %logits0 = sched.run @linear_F #graph.unit<"linear", 0> micro 0 (%x0) params ["w", "b"] stores [] accumulate [] : (tensor<2x2xf32>) -> tensor<2x3xf32>
  sched.send %logits0 message 0 to 1 micro 0 : tensor<2x3xf32>
  %d0 = sched.receive message 1 from 1 micro 0 : tensor<2x3xf32>
  sched.run @linear_B #graph.unit<"linear", 0> micro 0 (%x0, %d0) params [] stores ["w", "b"] accumulate [false, false] role <B> : (tensor<2x2xf32>, tensor<2x3xf32>) -> ()
  %x1 = sched.load micro 1 ["x"] : tensor<2x2xf32>
  %logits1 = sched.run @linear_F #graph.unit<"linear", 0> micro 1 (%x1) params ["w", "b"] stores [] accumulate [] : (tensor<2x2xf32>) -> tensor<2x3xf32>
  sched.send %logits1 message 2 to 1 micro 1 : tensor<2x3xf32>
  %d1 = sched.receive message 3 from 1 micro 1 : tensor<2x3xf32>
  sched.run @linear_B #graph.unit<"linear", 0> micro 1 (%x1, %d1) params [] stores ["w", "b"] accumulate [true, true] role <B> : (tensor<2x2xf32>, tensor<2x3xf32>) -> ()
  sched.collective all_reduce @bw of whole over <dp, [2, 1], []>
  sched.collective all_reduce @bb of whole over <world, [2, 1], [0, 1]>
  sched.norm @bw copies 1 accumulate false
  sched.norm @bb copies 2 accumulate true
  sched.zero_scalars ["@loss_sum", "@loss_count"]
  sched.all_reduce_scalars ["@loss_sum", "@loss_count", "@sum_squares"] over <world, [2, 1], [0, 1]>
  sched.scalars @scalars
  sched.update @bw
  sched.update @bb
}
sched.timeline @train_1 stage 1 micro_batches 2 {
  %y0 = sched.load micro 0 ["y"] : tensor<2xi64>
  %logits0 = sched.receive message 0 from 0 micro 0 : tensor<2x3xf32>
  %d0 = sched.run @loss #graph.unit<"loss", 0> micro 0 (%logits0, %y0) params [] stores ["@loss_sum", "@loss_count"] accumulate [false, false] : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  sched.send %d0 message 1 to 0 micro 0 : tensor<2x3xf32>
  sched.run @nothing_B #graph.unit<"nothing", 0> micro 0 () params [] stores ["b"] accumulate [false] role <B> : () -> ()
  %y1 = sched.load micro 1 ["y"] : tensor<2xi64>
  %logits1 = sched.receive message 2 from 0 micro 1 : tensor<2x3xf32>
  %d1 = sched.run @loss #graph.unit<"loss", 0> micro 1 (%logits1, %y1) params [] stores ["@loss_sum", "@loss_count"] accumulate [true, true] : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  sched.send %d1 message 3 to 0 micro 1 : tensor<2x3xf32>
  sched.run @nothing_B #graph.unit<"nothing", 0> micro 1 () params [] stores ["b"] accumulate [true] role <B> : () -> ()
  sched.collective all_reduce @bb of whole over <world, [2, 1], [0, 1]>
  sched.norm @bb copies 2 accumulate false
  sched.all_reduce_scalars ["@loss_sum", "@loss_count", "@sum_squares"] over <world, [2, 1], [0, 1]>
  sched.scalars @scalars
  sched.update @bb
}

func.func private @linear_F(%x: tensor<2x2xf32>, %w: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.broadcast %b : tensor<3xf32> -> tensor<2x3xf32>
  %2 = graph.add %0, %1 : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
func.func private @linear_B(%x: tensor<2x2xf32>, %d: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %dw = graph.contract "ab,ac->bc" %x, %d : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %db = graph.reduce sum %d dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  return %dw, %db : tensor<2x3xf32>, tensor<3xf32>
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
func.func private @nothing_B() -> tensor<3xf32> {
  %zero = graph.constant dense<0.0> : tensor<3xf32>
  return %zero : tensor<3xf32>
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
