// How long messages keep their bytes. On the cores of 'cpu' a run takes 6 us, a message 2 us and 0.25 ns a byte. It needs half as
// long again, and, since other messages take more than the computations, twice that.
// RUN: xlc-opt %s --xlc-assign-streams --xlc-assign-windows="device=cpu" | FileCheck %s --check-prefix=FAST
// RUN: not xlc-opt %s --xlc-assign-windows="device=abacus" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown device 'abacus'

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 2, tp = 1, shards = 2>} {
// FAST-LABEL: exec.program @train
exec.program @train stage 0 micro_batches 1 arena 0 lower_bound 0 {
  exec.buffer 0 parameters "p" size 1048576 offset 0 live 0 to 8 persistent
  exec.buffer 1 residuals "x" size 16384 offset 0 live 1 to 8
  exec.buffer 2 communication "p gathered" size 2097152 offset 0 live 4 to 5
  exec.buffer 3 gradients "g" size 16384 offset 0 live 5 to 6
  // Persistent to persistent: nobody needs its bytes.
  // FAST: exec.exchange all_gather "kept" {{.*}} on gather{{$}}
  exec.exchange all_gather "kept" over <dp, [2, 1], []> <0 + 0 + 8> to <0 + 0 + 0> count 2 f32
  exec.run @square "layer[0] F" micro 0 first true [#exec.place<1 + 0 + 0>] role <F>
  exec.run @square "layer[1] F" micro 0 first true [#exec.place<1 + 0 + 0>] role <F>
  exec.run @square "layer[2] F" micro 0 first true [#exec.place<1 + 0 + 0>] role <F>
  // 1 MB takes 264 us: all that is before it would not cover that.
  // FAST: exec.exchange all_gather "far" {{.*}} on gather early 4
  exec.exchange all_gather "far" over <dp, [2, 1], []> <0 + 0 + 0> to <2 + 0 + 0> count 262144 f32
  exec.run @square "layer[2] B" micro 0 first true [#exec.place<3 + 0 + 0>] role <B>
  // 4 KB are read in 3 us: 9 us are more than one run.
  // FAST: exec.exchange all_reduce "g" {{.*}} on reduce late 2
  exec.exchange all_reduce "g" over <dp, [2, 1], []> <3 + 0 + 0> to <3 + 0 + 0> count 1024 f32
  exec.run @square "layer[1] B" micro 0 first true [#exec.place<1 + 0 + 0>] role <B>
  exec.run @square "layer[0] B" micro 0 first true [#exec.place<1 + 0 + 0>] role <B>
  exec.run @square "after" micro 0 first true [#exec.place<1 + 0 + 0>] role <B>
}

func.func private @kernel(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "ab,bc->ac" %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
func.func private @square(%x: memref<64x64xf32>) {
  exec.call @kernel ins (%x : memref<64x64xf32>) outs (%x : memref<64x64xf32>) accumulate [0]
  return
}
}
