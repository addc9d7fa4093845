// Gradients of weights on a stream of their own: their bytes are theirs until other computations have taken half as long again. On the cores
// of 'cpu' a run takes 6 us. What exchanges something within a function stays on the stream of such exchanges.
// RUN: xlc-opt %s --xlc-assign-streams=weights-beside=true --xlc-assign-windows="device=cpu" --xlc-assign-dependencies --xlc-verify-streams | FileCheck %s
// RUN: xlc-opt %s --xlc-assign-streams --xlc-assign-windows="device=cpu" | FileCheck %s --check-prefix=ORDER
// ORDER-NOT: on weights

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// CHECK-LABEL: exec.program @train
exec.program @train stage 0 micro_batches 1 arena 65536 lower_bound 65536 {
  exec.buffer 0 workspace "dy 2" size 16384 offset 0 live 0 to 3
  exec.buffer 1 gradients "g" size 16384 offset 16384 live 0 to 5
  exec.buffer 2 workspace "dy 1" size 16384 offset 32768 live 2 to 3
  exec.buffer 3 workspace "dy 0" size 16384 offset 0 live 4 to 5
  // CHECK: exec.run @square "layer[2] I" {{.*}}role <I>{{$}}
  exec.run @square "layer[2] I" micro 0 first true [#exec.place<0 + 0 + 0>] role <I>
  // CHECK: exec.run @product "layer[2] W" {{.*}} on weights late 2 after [0]
  exec.run @product "layer[2] W" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>] role <W>
  // CHECK: exec.run @square "layer[1] I" {{.*}}role <I>{{$}}
  exec.run @square "layer[1] I" micro 0 first true [#exec.place<2 + 0 + 0>] role <I>
  // CHECK: exec.run @tied "layer[1] W" {{.*}}role <W> after [1]
  exec.run @tied "layer[1] W" micro 0 first true [#exec.place<1 + 0 + 0>] role <W>
  // Its bytes were those that the first gradient reads: it waits, as the action before it has.
  // CHECK: exec.run @square "layer[0] I" {{.*}}role <I>{{$}}
  exec.run @square "layer[0] I" micro 0 first true [#exec.place<3 + 0 + 0>] role <I>
}

func.func private @kernel(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "ab,bc->ac" %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
func.func private @square(%x: memref<64x64xf32>) {
  exec.call @kernel ins (%x : memref<64x64xf32>) outs (%x : memref<64x64xf32>) accumulate [0]
  return
}
func.func private @product(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  exec.call @kernel ins (%x : memref<64x64xf32>) outs (%y : memref<64x64xf32>) accumulate [0]
  return
}
func.func private @tied(%x: memref<64x64xf32>) {
  exec.call @kernel ins (%x : memref<64x64xf32>) outs (%x : memref<64x64xf32>) accumulate [0]
  exec.collective all_reduce %x to %x over <tp, [2, 1], []> outer 1 chunk 4096 : memref<64x64xf32>, memref<64x64xf32>
  return
}
}
