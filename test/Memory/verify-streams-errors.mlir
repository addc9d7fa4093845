// Every way in which streams can be wrong, each with what the gate says of it.
// RUN: xlc-opt %s --xlc-verify-streams --split-input-file --verify-diagnostics

// A computation that does not wait for its parameters.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 256 lower_bound 256 {
  exec.buffer 0 parameters "a" size 32 offset 0 live 0 to 1 persistent
  exec.buffer 1 communication "a gathered" size 64 offset 64 live 0 to 1
  exec.buffer 2 residuals "y" size 64 offset 128 live 1 to 1
  // expected-note @+1 {{the other action}}
  exec.exchange all_gather "all_gather a" over <dp, [2, 1], []> <0 + 0 + 0> to <1 + 0 + 0> count 8 f32 on gather
  // expected-error @+1 {{'layer[0] F' on compute reads bytes 64 to 128 of the arena ('a gathered'), which 'all_gather a' on gather writes ('a gathered'); the two accesses are not ordered}}
  exec.run @copy "layer[0] F" micro 0 first true [#exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}
}

// -----

// A sum that waits for the first contribution, and not for the last.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 256 lower_bound 256 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 gradients "g" size 64 offset 64 live 0 to 2
  exec.run @add "layer[0] B" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-note @+1 {{the other action}}
  exec.run @add "layer[0] B" micro 1 first false [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-error @+1 {{'all_reduce g' on reduce reads bytes 64 to 128 of the arena ('g'), which 'layer[0] B' on compute writes ('g'); the two accesses are not ordered}}
  exec.exchange all_reduce "all_reduce g" over <dp, [2, 1], []> <1 + 0 + 0> to <1 + 0 + 0> count 16 f32 on reduce after [0]
}
func.func private @add(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [2]
  return
}
}

// -----

// A buffer that is placed where another is still being sent: freed before its join.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
exec.program @train stage 0 micro_batches 1 arena 256 lower_bound 256 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 communication "y" size 64 offset 64 live 0 to 1
  exec.buffer 2 workspace "z" size 64 offset 64 live 2 to 2
  exec.run @copy "layer[0] F" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-note @+1 {{the other action}}
  exec.send "send 0 to 1" message 0 to 1 <1 + 0 + 0> bytes 32 on send after [0]
  // expected-error @+1 {{'layer[0] F' on compute writes bytes 64 to 96 of the arena ('z'), which 'send 0 to 1' on send reads ('y'); the two accesses are not ordered}}
  exec.run @copy "layer[0] F" micro 1 first true [#exec.place<0 + 0 + 0>, #exec.place<2 + 0 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}
}

// -----

// Rows that are read into memory from which a computation still reads.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 1, shards = 1>} {
exec.program @train stage 0 micro_batches 2 arena 256 lower_bound 256 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 1
  exec.buffer 2 residuals "x" size 64 offset 0 live 2 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>] on copy
  // expected-note @+1 {{the other action}}
  exec.run @copy "layer[0] F" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>] after [0]
  // expected-error @+1 {{'load' on copy writes bytes 0 to 64 of the arena ('x'), which 'layer[0] F' on compute reads ('x'); the two accesses are not ordered}}
  exec.load micro 1 ["x"] to [#exec.place<2 + 0 + 0>] on copy
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  // expected-error @+1 {{is action 0, but waits for action 1, which is not earlier}}
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>] on copy after [1]
  exec.release "release x" <0 + 0 + 0> bytes 64 after [0]
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>] on copy
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>] on copy
  // expected-error @+1 {{waits for actions 1 and 0, which must be listed in ascending order}}
  exec.release "release x" <0 + 0 + 0> bytes 64 after [1, 0]
}
