// Streams, and what each action comes after. Four actions on three streams: rows are read while nothing runs, a bucket is
// gathered beside them, the layer waits for both, and the next gather into the same memory waits for the layer.
// RUN: xlc-opt %s --xlc-assign-streams --xlc-assign-dependencies --xlc-verify-streams | FileCheck %s

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {

// CHECK-LABEL: exec.program @train
exec.program @train stage 0 micro_batches 1 arena 512 lower_bound 512 {
  exec.buffer 0 parameters "a" size 32 offset 0 live 0 to 8 persistent
  exec.buffer 1 parameters "b" size 32 offset 64 live 0 to 8 persistent
  exec.buffer 2 residuals "x" size 64 offset 128 live 0 to 3
  exec.buffer 3 communication "a gathered" size 64 offset 192 live 1 to 3
  exec.buffer 4 communication "b gathered" size 64 offset 192 live 4 to 5
  exec.buffer 5 residuals "y" size 64 offset 256 live 2 to 6
  exec.buffer 6 residuals "z" size 64 offset 320 live 5 to 7
  // CHECK: exec.load micro 0 ["x"] {{.*}} on copy{{$}}
  exec.load micro 0 ["x"] to [#exec.place<2 + 0 + 0>]
  // Of other bytes than the load: nothing to wait for.
  // CHECK: exec.exchange all_gather "all_gather a" {{.*}} f32 on gather{{$}}
  exec.exchange all_gather "all_gather a" over <dp, [2, 1], []> <0 + 0 + 0> to <3 + 0 + 0> count 8 f32
  // CHECK: exec.run @add "layer[0] F" {{.*}} after [0, 1]
  exec.run @add "layer[0] F" micro 0 first true [#exec.place<2 + 0 + 0>, #exec.place<3 + 0 + 0>, #exec.place<5 + 0 + 0>]
  // Computations come one after the other: nothing to wait for that is not said.
  // CHECK: exec.release "release a" {{.*}} bytes 64{{$}}
  exec.release "release a" <3 + 0 + 0> bytes 64
  // The same memory: after the release alone, which comes after the layer.
  // CHECK: exec.exchange all_gather "all_gather b" {{.*}} on gather after [3]
  exec.exchange all_gather "all_gather b" over <dp, [2, 1], []> <1 + 0 + 0> to <4 + 0 + 0> count 8 f32
  // After the gather, and so after all that it came after.
  // CHECK: exec.run @add "layer[1] F" {{.*}} after [4]
  exec.run @add "layer[1] F" micro 0 first true [#exec.place<5 + 0 + 0>, #exec.place<4 + 0 + 0>, #exec.place<6 + 0 + 0>]
  // After the last that wrote y and the last that has read it, which is later.
  // CHECK: exec.exchange all_reduce "all_reduce y" {{.*}} on reduce after [5]
  exec.exchange all_reduce "all_reduce y" over <dp, [2, 1], []> <5 + 0 + 0> to <5 + 0 + 0> count 16 f32
  // CHECK: exec.run @copy "other" {{.*}}]{{$}}
  exec.run @copy "other" micro 0 first true [#exec.place<6 + 0 + 0>, #exec.place<2 + 0 + 0>]
  // CHECK: exec.run @copy "reader" {{.*}} after [6]
  exec.run @copy "reader" micro 0 first true [#exec.place<5 + 0 + 0>, #exec.place<2 + 0 + 0>]
}

func.func private @add(%x: memref<16xf32>, %w: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x, %w : memref<16xf32>, memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}
}
