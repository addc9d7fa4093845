// Lifetimes are counted in calls: the second temporary of a run takes the place of the first, which ends one call before it begins;
// x, which backward reads again, keeps its own. What lives throughout stands at the bottom. Offsets are multiples of 64 bytes.
// RUN: xlc-opt %s --xlc-assign-offsets --xlc-verify-placement | FileCheck %s
// CHECK: exec.program @train stage 0 micro_batches 1 arena 320 lower_bound 292
// CHECK: exec.buffer 0 residuals "x" size 64 offset 0
// CHECK: exec.buffer 1 workspace "first" size 64 offset [[A:[0-9]+]]
// CHECK: exec.buffer 2 workspace "second" size 64 offset [[B:[0-9]+]]
// CHECK: exec.buffer 3 workspace "third" size 64 offset [[A]]
// CHECK: exec.buffer 4 parameters "p" size 100 offset 64
// CHECK: exec.buffer 5 workspace "unused" size 0
exec.program @train stage 0 micro_batches 1 arena 0 lower_bound 0 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 workspace "first" size 64 offset 0 live 1 to 1
  exec.buffer 2 workspace "second" size 64 offset 0 live 1 to 1
  exec.buffer 3 workspace "third" size 64 offset 0 live 1 to 2
  exec.buffer 4 parameters "p" size 100 offset 0 live 0 to 2 persistent
  exec.buffer 5 workspace "unused" size 0 offset 0 live 0 to 0
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @chain "chain" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>, #exec.place<3 + 0 + 0>]
  exec.run @add "add" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<3 + 0 + 0>]
}
func.func private @chain(%x: memref<16xf32>, %a: memref<16xf32>, %b: memref<16xf32>, %c: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%a : memref<16xf32>) accumulate [0]
  exec.call @kernel ins (%a : memref<16xf32>) outs (%b : memref<16xf32>) accumulate [0]
  exec.call @kernel ins (%b : memref<16xf32>) outs (%c : memref<16xf32>) accumulate [0]
  return
}
func.func private @add(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [1]
  return
}
