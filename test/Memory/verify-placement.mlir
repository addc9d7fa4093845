// Buffers that follow each other in time may share bytes; what nobody reads may be lost.
// RUN: xlc-opt %s --xlc-verify-placement | FileCheck %s
// CHECK: exec.program @train
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 2
  exec.buffer 2 workspace "z" size 48 offset 8 live 2 to 3
  exec.buffer 3 workspace "u" size 64 offset 64 live 3 to 3
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @copy "x to y" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  exec.run @copy "y to z" micro 0 first true [#exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>]
  exec.run @copy "z to u" micro 0 first true [#exec.place<2 + 0 + 0>, #exec.place<3 + 0 + 0>]
}
func.func private @copy(%x: memref<12xf32>, %y: memref<12xf32>) {
  exec.call @kernel ins (%x : memref<12xf32>) outs (%y : memref<12xf32>) accumulate [0]
  return
}

// Element by element a result may take an operand's place; interleaved halves of a buffer are apart; what the first
// micro-batch writes the second adds to, and what was read may be overwritten.
// CHECK: exec.program @shared
exec.program @shared stage 0 micro_batches 2 arena 256 lower_bound 256 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 6
  exec.buffer 1 gradients "sum" size 64 offset 64 live 1 to 5
  exec.buffer 2 workspace "z" size 64 offset 128 live 3 to 6
  exec.buffer 3 gradients "late" size 64 offset 0 live 6 to 6
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @contribute "first" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  exec.run @contribute "second" micro 1 first false [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  exec.run @interleave "read" micro 1 first true [#exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>]
  exec.run @negate "negate" micro 1 first true [#exec.place<0 + 0 + 0>]
  exec.run @contribute "again" micro 1 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // A sum may begin where something was that its function has read before.
  exec.run @two_steps "two steps" micro 1 first true [#exec.place<0 + 0 + 0>, #exec.place<2 + 0 + 0>, #exec.place<3 + 0 + 0>]
}
func.func private @two_steps(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  exec.call @kernel ins (%y : memref<16xf32>) outs (%z : memref<16xf32>) accumulate [2]
  return
}
func.func private @contribute(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [2]
  return
}
func.func private @interleave(%x: memref<16xf32>, %y: memref<16xf32>) {
  %even = exec.view %y from 0 : memref<16xf32> -> memref<8xf32, strided<[2]>>
  %odd = exec.view %y from 1 : memref<16xf32> -> memref<8xf32, strided<[2]>>
  exec.call @kernel ins (%x : memref<16xf32>) outs (%even, %odd : memref<8xf32, strided<[2]>>, memref<8xf32, strided<[2]>>) accumulate [0, 0]
  return
}
func.func private @negate(%x: memref<16xf32>) {
  exec.call @minus ins (%x : memref<16xf32>) outs (%x : memref<16xf32>) accumulate [0]
  return
}
func.func private @minus(%x: tensor<16xf32>) -> tensor<16xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %0 = graph.neg %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// As many rows as a step may have: two halves of each are apart, and are not looked at row by row.
// CHECK: exec.program @many
exec.program @many stage 0 micro_batches 1 arena 70368744177664 lower_bound 70368744177664 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 residuals "halves" size 70368744177600 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @split "split" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @split(%x: memref<16xf32>, %y: memref<4398046511100x4xf32>) {
  %left = exec.view %y from 0 : memref<4398046511100x4xf32> -> memref<4398046511100x2xf32, strided<[4, 1]>>
  %right = exec.view %y from 2 : memref<4398046511100x4xf32> -> memref<4398046511100x2xf32, strided<[4, 1]>>
  exec.call @kernel ins (%x : memref<16xf32>) outs (%left, %right : memref<4398046511100x2xf32, strided<[4, 1]>>, memref<4398046511100x2xf32, strided<[4, 1]>>) accumulate [0, 0]
  return
}
