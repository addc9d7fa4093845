// A program on two ranks at stage 1, byte by byte: slices by stride, views, accumulation in place, scratch.
// RUN: xlc-opt %S/Inputs/linear.mlir --xlc-differentiate --xlc-append-update -o %t.mlir
// RUN: xlc-opt %s --xlc-verify-against=reference=%t.mlir | FileCheck %s
// CHECK: compared 32 tensors, 116 elements, over 2 steps of 2 ranks x 2 micro-batches
// CHECK: all equal

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
sched.bucket @bw ["w"] at [0] sizes [6] elements 6 group 0 params whole grads whole states shard
sched.bucket @bb ["b"] at [0] sizes [3] elements 4 group 1 params whole grads whole states shard
exec.program @train stage 0 micro_batches 2 arena 344 lower_bound 344 {
  exec.buffer 0 parameters "bw/params" size 24 offset 0 live 0 to 20 persistent
  exec.buffer 1 parameters "bb/params" size 16 offset 24 live 0 to 20 persistent
  exec.buffer 2 optimizer "bw/m" size 12 offset 40 live 0 to 20 persistent
  exec.buffer 3 optimizer "bw/v" size 12 offset 56 live 0 to 20 persistent
  exec.buffer 4 optimizer "bb/m" size 8 offset 72 live 0 to 20 persistent
  exec.buffer 5 optimizer "bb/v" size 8 offset 80 live 0 to 20 persistent
  exec.buffer 6 gradients "bw/grads" size 24 offset 88 live 5 to 17
  exec.buffer 7 gradients "bb/grads" size 16 offset 112 live 1 to 18
  exec.buffer 8 residuals "x" size 16 offset 128 live 2 to 9
  exec.buffer 9 residuals "y" size 16 offset 144 live 2 to 8
  exec.buffer 10 residuals "logits" size 24 offset 160 live 3 to 8
  exec.buffer 11 residuals "d" size 24 offset 184 live 4 to 9
  exec.buffer 12 workspace "loss_sum" size 4 offset 208 live 4 to 16
  exec.buffer 13 workspace "loss_count" size 8 offset 216 live 4 to 16
  exec.buffer 14 workspace "sum_squares" size 8 offset 224 live 12 to 16
  exec.buffer 15 optimizer "group0" size 24 offset 296 live 0 to 20 persistent
  exec.buffer 16 optimizer "group1" size 24 offset 320 live 0 to 20 persistent
  exec.buffer 17 workspace "loss" size 4 offset 264 live 0 to 20 persistent
  exec.buffer 18 workspace "norm" size 4 offset 272 live 0 to 20 persistent
  exec.buffer 19 workspace "scratch" size 16 offset 280 live 4 to 8
  exec.state value of @bw 6 x f32 begins parameters at <0 + 0 + 0>
  exec.state optimizer "m" of @bw shard 3 x f32 begins zero at <2 + 0 + 0>
  exec.state optimizer "v" of @bw shard 3 x f32 begins zero at <3 + 0 + 0>
  exec.state value of @bb 4 x f32 begins parameters at <1 + 0 + 0>
  exec.state optimizer "m" of @bb shard 2 x f32 begins zero at <4 + 0 + 0>
  exec.state optimizer "v" of @bb shard 2 x f32 begins zero at <5 + 0 + 0>
  exec.state result "loss" 1 x f32 begins nothing at <17 + 0 + 0>
  exec.state result "norm" 1 x f32 begins nothing at <18 + 0 + 0>
  exec.state counter "applied" 1 x f32 begins one at <15 + 16 + 0>
  exec.begin [#exec.place<15 + 0 + 0>, #exec.place<16 + 0 + 0>]
  exec.run @zero "zero padding" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<7 + 12 + 0>]
  exec.load micro 0 ["x", "y"] to [#exec.place<8 + 0 + 0>, #exec.place<9 + 0 + 0>]
  exec.run @layer_F "layer F" micro 0 first true [#exec.place<8 + 0 + 0>, #exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<10 + 0 + 0>]
  exec.run @head "head" micro 0 first true [#exec.place<10 + 0 + 0>, #exec.place<9 + 0 + 0>, #exec.place<11 + 0 + 0>, #exec.place<12 + 0 + 0>, #exec.place<13 + 0 + 0>, #exec.place<19 + 0 + 0>]
  exec.run @layer_B "layer B" micro 0 first true [#exec.place<8 + 0 + 0>, #exec.place<11 + 0 + 0>, #exec.place<6 + 0 + 0>, #exec.place<7 + 0 + 0>]
  exec.load micro 1 ["x", "y"] to [#exec.place<8 + 0 + 0>, #exec.place<9 + 0 + 0>]
  exec.run @layer_F "layer F" micro 1 first false [#exec.place<8 + 0 + 0>, #exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<10 + 0 + 0>]
  exec.run @head "head" micro 1 first false [#exec.place<10 + 0 + 0>, #exec.place<9 + 0 + 0>, #exec.place<11 + 0 + 0>, #exec.place<12 + 0 + 0>, #exec.place<13 + 0 + 0>, #exec.place<19 + 0 + 0>]
  exec.run @layer_B "layer B" micro 1 first false [#exec.place<8 + 0 + 0>, #exec.place<11 + 0 + 0>, #exec.place<6 + 0 + 0>, #exec.place<7 + 0 + 0>]
  exec.exchange reduce_scatter "bw" over <dp, [2, 1], []> <6 + 0 + 0> to <6 + 0 + 12> count 3 f32
  exec.exchange reduce_scatter "bb" over <dp, [2, 1], []> <7 + 0 + 0> to <7 + 0 + 8> count 2 f32
  exec.run @norm "norm" micro 0 first true [#exec.place<6 + 0 + 12>, #exec.place<7 + 0 + 8>, #exec.place<14 + 0 + 0>]
  exec.exchange all_reduce "loss" over <dp, [2, 1], []> <12 + 0 + 0> to <12 + 0 + 0> count 1 f32
  exec.exchange all_reduce "count" over <dp, [2, 1], []> <13 + 0 + 0> to <13 + 0 + 0> count 1 i64
  exec.exchange all_reduce "squares" over <dp, [2, 1], []> <14 + 0 + 0> to <14 + 0 + 0> count 1 f64
  exec.run @finish "scalars" micro 0 first true [#exec.place<12 + 0 + 0>, #exec.place<13 + 0 + 0>, #exec.place<14 + 0 + 0>, #exec.place<15 + 16 + 0>, #exec.place<17 + 0 + 0>, #exec.place<18 + 0 + 0>, #exec.place<15 + 4 + 0>, #exec.place<16 + 4 + 0>, #exec.place<16 + 16 + 0>]
  exec.run @update_w "update bw" micro 0 first true [#exec.place<0 + 0 + 12>, #exec.place<6 + 0 + 12>, #exec.place<15 + 0 + 0>, #exec.place<2 + 0 + 0>, #exec.place<3 + 0 + 0>]
  exec.run @update_b "update bb" micro 0 first true [#exec.place<1 + 0 + 8>, #exec.place<7 + 0 + 8>, #exec.place<16 + 0 + 0>, #exec.place<4 + 0 + 0>, #exec.place<5 + 0 + 0>]
  exec.exchange all_gather "bw" over <dp, [2, 1], []> <0 + 0 + 12> to <0 + 0 + 0> count 3 f32
  exec.exchange all_gather "bb" over <dp, [2, 1], []> <1 + 0 + 8> to <1 + 0 + 0> count 2 f32
}

func.func private @zero(%p: memref<1xf32>, %g: memref<1xf32>) {
  exec.call @k_zero ins (%p : memref<1xf32>) outs (%g : memref<1xf32>) accumulate [0]
  return
}
func.func private @layer_F(%x: memref<2x2xf32>, %w: memref<2x3xf32>, %b: memref<3xf32>, %y: memref<2x3xf32>) {
  exec.call @linear_F ins (%x, %w, %b : memref<2x2xf32>, memref<2x3xf32>, memref<3xf32>) outs (%y : memref<2x3xf32>) accumulate [0]
  return
}
func.func private @head(%logits: memref<2x3xf32>, %y: memref<2xi64>, %d: memref<2x3xf32>, %sum: memref<f32>, %count: memref<i64>, %scratch: memref<4xf32>) {
  exec.call @loss ins (%logits, %y : memref<2x3xf32>, memref<2xi64>) outs (%d, %sum, %count : memref<2x3xf32>, memref<f32>, memref<i64>) workspace (%scratch : memref<4xf32>) accumulate [0, 2, 2]
  return
}
func.func private @layer_B(%x: memref<2x2xf32>, %d: memref<2x3xf32>, %dw: memref<2x3xf32>, %db: memref<3xf32>) {
  %t = exec.view %d from 0 : memref<2x3xf32> -> memref<3x2xf32, strided<[1, 3]>>
  exec.call @k_dw ins (%x, %d : memref<2x2xf32>, memref<2x3xf32>) outs (%dw : memref<2x3xf32>) accumulate [2]
  exec.call @k_db ins (%t : memref<3x2xf32, strided<[1, 3]>>) outs (%db : memref<3xf32>) accumulate [2]
  return
}
func.func private @norm(%w: memref<3xf32>, %b: memref<2xf32>, %s: memref<f64>) {
  exec.call @k_squares3 ins (%w : memref<3xf32>) outs (%s : memref<f64>) accumulate [0]
  exec.call @k_squares2 ins (%b : memref<2xf32>) outs (%s : memref<f64>) accumulate [1]
  return
}
func.func private @finish(%sum: memref<f32>, %count: memref<i64>, %squares: memref<f64>, %applied0: memref<f32>, %loss: memref<f32>, %norm: memref<f32>, %scale0: memref<f32>, %scale1: memref<f32>, %applied1: memref<f32>) {
  exec.call @scalars ins (%sum, %count, %squares, %applied0 : memref<f32>, memref<i64>, memref<f64>, memref<f32>) outs (%loss, %norm, %scale0, %applied0 : memref<f32>, memref<f32>, memref<f32>, memref<f32>) accumulate [0, 0, 0, 0]
  exec.call @k_copy ins (%applied0 : memref<f32>) outs (%applied1 : memref<f32>) accumulate [0]
  exec.call @k_copy ins (%scale0 : memref<f32>) outs (%scale1 : memref<f32>) accumulate [0]
  return
}
func.func private @k_zero(%p: tensor<1xf32>) -> tensor<1xf32> {
  %0 = graph.constant dense<0.0> : tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func private @k_dw(%x: tensor<2x2xf32>, %d: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.contract "ab,ac->bc" %x, %d : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func private @k_db(%d: tensor<3x2xf32>) -> tensor<3xf32> {
  %0 = graph.reduce sum %d dims [1] : tensor<3x2xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @k_squares3(%g: tensor<3xf32>) -> tensor<f64> {
  %0 = graph.sum_squares %g : tensor<3xf32> -> tensor<f64>
  return %0 : tensor<f64>
}
func.func private @k_squares2(%g: tensor<2xf32>) -> tensor<f64> {
  %0 = graph.sum_squares %g : tensor<2xf32> -> tensor<f64>
  return %0 : tensor<f64>
}
func.func private @k_copy(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @k_update_w(%p: tensor<3xf32>, %g: tensor<3xf32>, %s: tensor<6xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = graph.optimizer_step adamw %p, %g, %s states %m, %v {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64} : (tensor<3xf32>, tensor<3xf32>, tensor<6xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
func.func private @update_w(%p: memref<3xf32>, %g: memref<3xf32>, %s: memref<6xf32>, %m: memref<3xf32>, %v: memref<3xf32>) {
  exec.call @k_update_w ins (%p, %g, %s, %m, %v : memref<3xf32>, memref<3xf32>, memref<6xf32>, memref<3xf32>, memref<3xf32>) outs (%p, %m, %v : memref<3xf32>, memref<3xf32>, memref<3xf32>) accumulate [0, 0, 0]
  return
}
func.func private @k_update_b(%p: tensor<2xf32>, %g: tensor<2xf32>, %s: tensor<6xf32>, %m: tensor<2xf32>, %v: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0:3 = graph.optimizer_step adamw %p, %g, %s states %m, %v {beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64} : (tensor<2xf32>, tensor<2xf32>, tensor<6xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
func.func private @update_b(%p: memref<2xf32>, %g: memref<2xf32>, %s: memref<6xf32>, %m: memref<2xf32>, %v: memref<2xf32>) {
  exec.call @k_update_b ins (%p, %g, %s, %m, %v : memref<2xf32>, memref<2xf32>, memref<6xf32>, memref<2xf32>, memref<2xf32>) outs (%p, %m, %v : memref<2xf32>, memref<2xf32>, memref<2xf32>) accumulate [0, 0, 0]
  return
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
