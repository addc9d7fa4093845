// Every op of the dialect, as it is written.
// RUN: xlc-opt %s | xlc-opt | FileCheck %s

// CHECK: exec.program @train_0 stage 0 micro_batches 1 arena 640 lower_bound 640
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2, tp = 2, shards = 2>} {
exec.program @train_0 stage 0 micro_batches 1 arena 640 lower_bound 640 {
  // CHECK: exec.buffer 0 parameters "b" size 512 offset 0 live 0 to 8 persistent
  exec.buffer 0 parameters "b" size 512 offset 0 live 0 to 8 persistent
  // CHECK: exec.buffer 1 workspace "x" size 128 offset 512 live 0 to 6 persistent
  exec.buffer 1 workspace "x" size 128 offset 512 live 0 to 6 persistent
  // CHECK: exec.state value of @b 128 x bf16 begins parameters at <0 + 0 + 0>
  exec.state value of @b 128 x bf16 begins parameters at <0 + 0 + 0>
  // CHECK: exec.state optimizer "m" of @b shard 64 x f32 begins zero at <0 + 256 + 0>
  exec.state optimizer "m" of @b shard 64 x f32 begins zero at <0 + 256 + 0>
  // CHECK: exec.state counter "applied" 1 x f32 begins one at <1 + 4 + 0>
  exec.state counter "applied" 1 x f32 begins one at <1 + 4 + 0>
  // CHECK: exec.state index over <tp, [2, 1], []> 1 x i64 begins index at <1 + 8 + 0>
  exec.state index over <tp, [2, 1], []> 1 x i64 begins index at <1 + 8 + 0>
  // CHECK: exec.begin [#exec.place<1 + 64 + 0>]
  exec.begin [#exec.place<1 + 64 + 0>]
  // CHECK: exec.load micro 0 ["x"] to [#exec.place<1 + 0 + 0>]
  exec.load micro 0 ["x"] to [#exec.place<1 + 0 + 0>]
  // CHECK: exec.store micro 0 ["y"] from [#exec.place<1 + 0 + 0>] [tensor<2xf32>]
  exec.store micro 0 ["y"] from [#exec.place<1 + 0 + 0>] [tensor<2xf32>]
  // CHECK: exec.exchange all_gather "all_gather b" over <dp, [2, 2], []> <0 + 0 + 256> to <0 + 0 + 0> count 64 f32
  exec.exchange all_gather "all_gather b" over <dp, [2, 2], []> <0 + 0 + 256> to <0 + 0 + 0> count 64 f32
  // CHECK: exec.run @layer_F "layer[0] F" micro 0 first true [#exec.place<1 + 0 + 0>]
  exec.run @layer_F "layer[0] F" micro 0 first true [#exec.place<1 + 0 + 0>]
  // CHECK: exec.send "send 0 to 1" message 0 to 1 <1 + 0 + 0> bytes 64
  exec.send "send 0 to 1" message 0 to 1 <1 + 0 + 0> bytes 64
  // CHECK: exec.receive "receive 1 from 1" message 1 from 1 <1 + 0 + 0> bytes 64
  exec.receive "receive 1 from 1" message 1 from 1 <1 + 0 + 0> bytes 64
  // CHECK: exec.exchange reduce_scatter "reduce_scatter b" over <dp, [2, 2], []> <0 + 0 + 0> to <0 + 0 + 256> count 64 f32
  exec.exchange reduce_scatter "reduce_scatter b" over <dp, [2, 2], []> <0 + 0 + 0> to <0 + 0 + 256> count 64 f32
  // CHECK: exec.exchange all_reduce "all_reduce b" over <tp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 128 f32
  exec.exchange all_reduce "all_reduce b" over <tp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 128 f32
  // CHECK: exec.exchange all_reduce "all_reduce h" over <tp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 256 bf16
  exec.exchange all_reduce "all_reduce h" over <tp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 0> count 256 bf16
  // CHECK: exec.release "release b" <0 + 0 + 0> bytes 512
  exec.release "release b" <0 + 0 + 0> bytes 512
}

func.func private @layer_F(%x: memref<16xf32>) {
  // CHECK: %[[A:.*]] = exec.view %{{.*}} from 8 : memref<16xf32> -> memref<2x4xf32, strided<[4, 1]>>
  %a = exec.view %x from 8 : memref<16xf32> -> memref<2x4xf32, strided<[4, 1]>>
  // CHECK: %[[B:.*]] = exec.view
  %b = exec.view %x from 0 : memref<16xf32> -> memref<2x4xf32, strided<[4, 1]>>
  // CHECK: exec.call @kernel ins(%[[A]] : {{.*}}) outs(%[[B]] : {{.*}}) accumulate [0]
  exec.call @kernel ins (%a : memref<2x4xf32, strided<[4, 1]>>) outs (%b : memref<2x4xf32, strided<[4, 1]>>) accumulate [0]
  // CHECK: exec.collective all_reduce %[[B]] to %[[B]] over <tp, [2, 1], []> outer 2 chunk 4
  exec.collective all_reduce %b to %b over <tp, [2, 1], []> outer 2 chunk 4 : memref<2x4xf32, strided<[4, 1]>>, memref<2x4xf32, strided<[4, 1]>>
  return
}
}
