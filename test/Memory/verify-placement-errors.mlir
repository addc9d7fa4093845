// Every way in which a placement can be wrong, each with what the gate says of it.
// RUN: xlc-opt %s --xlc-verify-placement --split-input-file --verify-diagnostics

exec.program @train mesh <pp = 1, dp = 1, tp = 1, shards = 1> stage 0 micro_batches 1 arena 96 lower_bound 96 {
  // expected-error @+1 {{'x' ends at byte 128 of an arena of 96}}
  exec.buffer 0 workspace "x" size 64 offset 64 live 0 to 1
}

// -----

exec.program @train mesh <pp = 1, dp = 1, tp = 1, shards = 1> stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  exec.buffer 1 workspace "y" size 64 offset 64 live 0 to 0
  // expected-error @+1 {{reads buffer 'x', which nothing has written}}
  exec.run @copy "copy" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

// y is written over the end of x, which is read again.
exec.program @train mesh <pp = 1, dp = 1, tp = 1, shards = 1> stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 workspace "y" size 64 offset 60 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @copy "first" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'x', over which 'y' was written while it was live}}
  exec.run @copy "second" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

// Within one function: the scratch of the first call lies on what the second reads.
exec.program @train mesh <pp = 1, dp = 1, tp = 1, shards = 1> stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 1
  exec.buffer 2 workspace "scratch" size 4 offset 0 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'x', over which 'scratch' was written while it was live}}
  exec.run @twice "twice" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>]
}
func.func private @twice(%x: memref<16xf32>, %y: memref<16xf32>, %scratch: memref<1xf32>) {
  %v = exec.view %x from 0 : memref<16xf32> -> memref<4x4xf32, strided<[1, 4]>>
  exec.call @kernel ins (%v : memref<4x4xf32, strided<[1, 4]>>) outs (%y : memref<16xf32>) workspace (%scratch : memref<1xf32>) accumulate [0]
  exec.call @kernel ins (%v : memref<4x4xf32, strided<[1, 4]>>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

// A call that adds reads what it adds to.
exec.program @train mesh <pp = 1, dp = 1, tp = 1, shards = 1> stage 0 micro_batches 2 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 gradients "sum" size 64 offset 64 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'sum', which nothing has written}}
  exec.run @add "add" micro 0 first false [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @add(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [2]
  return
}

// -----

exec.program @train mesh <pp = 1, dp = 2, tp = 1, shards = 2> stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 communication "whole" size 64 offset 0 live 0 to 0
  exec.buffer 1 communication "shard" size 32 offset 64 live 0 to 0
  // expected-error @+1 {{reads buffer 'shard', which nothing has written}}
  exec.all_gather "b" over <"dp", [2, 1], []> <1 + 0 + 0> to <0 + 0 + 0> count 8 f32
}

// -----

exec.program @train mesh <pp = 1, dp = 2, tp = 1, shards = 2> stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "whole" size 64 offset 0 live 0 to 1
  exec.buffer 1 gradients "shard" size 32 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'shard', which nothing has written}}
  exec.reduce_scatter "b" over <"dp", [2, 1], []> <0 + 0 + 0> to <1 + 0 + 0> count 8 f32 accumulate true
}

// -----

// What persists must not be touched by anything else, at any time.
exec.program @train mesh <pp = 1, dp = 1, tp = 1, shards = 1> stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{reads buffer 'm', over which 'p' was written while it was live}}
  exec.buffer 1 optimizer "m" size 64 offset 32 live 0 to 0 persistent
}

// -----

// expected-error @+1 {{reads buffer 'p', over which 'x' was written while it was live}}
exec.program @train mesh <pp = 1, dp = 1, tp = 1, shards = 1> stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 0 persistent
  exec.buffer 1 residuals "x" size 64 offset 60 live 0 to 0
  exec.load micro 0 ["x"] to [#exec.place<1 + 0 + 0>]
}
