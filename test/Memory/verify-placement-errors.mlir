// Every way in which a placement can be wrong, each with what the gate says of it.
// RUN: xlc-opt %s --xlc-verify-placement --split-input-file --verify-diagnostics

exec.program @train stage 0 micro_batches 1 arena 96 lower_bound 96 {
  // expected-error @+1 {{'x' occupies bytes 64 to 128 of an arena of 96 bytes}}
  exec.buffer 0 workspace "x" size 64 offset 64 live 0 to 1
}

// -----

exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  exec.buffer 1 workspace "y" size 64 offset 64 live 0 to 0
  // expected-error @+1 {{reads buffer 'x', which was not written}}
  exec.run @copy "copy" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

// y is written over the end of x, which is read again.
exec.program @train stage 0 micro_batches 1 arena 192 lower_bound 192 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 workspace "y" size 64 offset 60 live 1 to 2
  exec.buffer 2 residuals "z" size 64 offset 128 live 0 to 1
  exec.load micro 0 ["x", "z"] to [#exec.place<0 + 0 + 0>, #exec.place<2 + 0 + 0>]
  exec.run @copy "first" micro 0 first true [#exec.place<2 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'x', whose live bytes were overwritten by 'y'}}
  exec.run @copy "second" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

// Within one function: the scratch of the first call lies on what the second reads.
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 1
  exec.buffer 2 workspace "scratch" size 4 offset 0 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'x', whose live bytes were overwritten by 'scratch'}}
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
exec.program @train stage 0 micro_batches 2 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 gradients "sum" size 64 offset 64 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'sum', which was not written}}
  exec.run @add "add" micro 0 first false [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @add(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [2]
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 communication "whole" size 64 offset 0 live 0 to 0
  exec.buffer 1 communication "shard" size 32 offset 64 live 0 to 0
  // expected-error @+1 {{reads buffer 'shard', which was not written}}
  exec.exchange all_gather "b" over <dp, [2, 1], []> <1 + 0 + 0> to <0 + 0 + 0> count 8 f32
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "whole" size 64 offset 0 live 0 to 1
  exec.buffer 1 gradients "shard" size 32 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{reads buffer 'shard', which was not written}}
  exec.exchange reduce_scatter "b" over <dp, [2, 1], []> <0 + 0 + 0> to <1 + 0 + 0> count 8 f32 accumulate
}
}

// -----

// What persists must not be touched by anything else, at any time.
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{reads buffer 'm', whose live bytes were overwritten by 'p'}}
  exec.buffer 1 optimizer "m" size 64 offset 32 live 0 to 0 persistent
}

// -----

// expected-error @+1 {{reads buffer 'p', whose live bytes were overwritten by 'x'}}
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 parameters "p" size 64 offset 0 live 0 to 0 persistent
  exec.buffer 1 residuals "x" size 64 offset 60 live 0 to 0
  exec.load micro 0 ["x"] to [#exec.place<1 + 0 + 0>]
}

// -----

// A place may not begin in its buffer and end behind it, nor leave it on the last shard.
exec.program @train stage 0 micro_batches 1 arena 2048 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{accesses bytes 1000 to 1064 of buffer 'y', which has 64 bytes}}
  exec.run @copy "copy" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 1000 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 parameters "whole" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{accesses bytes 8 to 72 of buffer 'whole', which has 64 bytes}}
  exec.exchange all_gather "b" over <dp, [2, 1], []> <0 + 8 + 32> to <0 + 0 + 0> count 8 f32
}
}

// -----

exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{uses buffer 7, which must be below 1}}
  exec.send "send" message 0 to 1 #exec.place<7 + 0 + 0> bytes 64
}

// -----

// The second value is the first one's sum over micro-batches, not what this micro-batch contributes.
exec.program @train stage 0 micro_batches 2 arena 256 lower_bound 192 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 gradients "sum" size 128 offset 64 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{'add' reads slot 1, which overlaps the sum in slot 1, to which the function adds; the value read would include other contributions}}
  exec.run @add "add" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<1 + 64 + 0>]
}
func.func private @add(%x: memref<16xf32>, %a: memref<16xf32>, %b: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%a : memref<16xf32>) accumulate [2]
  exec.call @kernel ins (%a : memref<16xf32>) outs (%b : memref<16xf32>) accumulate [2]
  return
}

// -----

// Half of a gradient is added to, the other half is overwritten.
exec.program @train stage 0 micro_batches 2 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 32 offset 0 live 0 to 2
  exec.buffer 1 gradients "sum" size 64 offset 64 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @halves "halves" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @halves(%x: memref<8xf32>, %y: memref<16xf32>) {
  %low = exec.view %y from 0 : memref<16xf32> -> memref<8xf32>
  exec.call @kernel ins (%x : memref<8xf32>) outs (%low : memref<8xf32>) accumulate [2]
  %high = exec.view %y from 8 : memref<16xf32> -> memref<8xf32>
  // expected-error @+1 {{writes slot 1 with accumulate 0, but another call has accumulate 2; all calls that write a slot must have the same accumulate}}
  exec.call @kernel ins (%x : memref<8xf32>) outs (%high : memref<8xf32>) accumulate [0]
  return
}

// -----

// What the first micro-batch contributed is lost.
exec.program @train stage 0 micro_batches 2 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 gradients "sum" size 64 offset 64 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @write "first" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-error @+1 {{overwrites an unread part of 'sum' instead of adding to it}}
  exec.run @write "second" micro 1 first false [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @write(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

// Two parts of a tensor meet in one column.
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 residuals "parts" size 64 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{'parts' calls 'kernel', which writes two results to the same bytes}}
  exec.run @parts "parts" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @parts(%x: memref<16xf32>, %y: memref<4x4xf32>) {
  %left = exec.view %y from 0 : memref<4x4xf32> -> memref<3x3xf32, strided<[4, 1]>>
  %right = exec.view %y from 2 : memref<4x4xf32> -> memref<2x2xf32, strided<[4, 1]>>
  exec.call @kernel ins (%x : memref<16xf32>) outs (%left, %right : memref<3x3xf32, strided<[4, 1]>>, memref<2x2xf32, strided<[4, 1]>>) accumulate [0, 0]
  return
}

// -----

// They meet in the third row of one and the first of the other.
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 residuals "parts" size 64 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{'parts' calls 'kernel', which writes two results to the same bytes}}
  exec.run @parts "parts" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @parts(%x: memref<16xf32>, %y: memref<4x4xf32>) {
  %left = exec.view %y from 0 : memref<4x4xf32> -> memref<3x3xf32, strided<[4, 1]>>
  %right = exec.view %y from 10 : memref<4x4xf32> -> memref<2x2xf32, strided<[4, 1]>>
  exec.call @kernel ins (%x : memref<16xf32>) outs (%left, %right : memref<3x3xf32, strided<[4, 1]>>, memref<2x2xf32, strided<[4, 1]>>) accumulate [0, 0]
  return
}

// -----

// The same, asked the other way round.
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 residuals "parts" size 64 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{'parts' calls 'kernel', which writes two results to the same bytes}}
  exec.run @parts "parts" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @parts(%x: memref<16xf32>, %y: memref<4x4xf32>) {
  %left = exec.view %y from 0 : memref<4x4xf32> -> memref<3x3xf32, strided<[4, 1]>>
  %right = exec.view %y from 10 : memref<4x4xf32> -> memref<2x2xf32, strided<[4, 1]>>
  exec.call @kernel ins (%x : memref<16xf32>) outs (%right, %left : memref<2x2xf32, strided<[4, 1]>>, memref<3x3xf32, strided<[4, 1]>>) accumulate [0, 0]
  return
}

// -----

// In place, though the kernel takes elements from elsewhere.
exec.program @train stage 0 micro_batches 1 arena 192 lower_bound 192 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 residuals "i" size 128 offset 64 live 0 to 1
  exec.load micro 0 ["x", "i"] to [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-error @+1 {{'pick' calls 'gather', which overwrites elements of operand 0 before it has read them}}
  exec.run @pick "pick" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @pick(%x: memref<16xf32>, %i: memref<16xi64>) {
  exec.call @gather ins (%x, %i : memref<16xf32>, memref<16xi64>) outs (%x : memref<16xf32>) accumulate [0]
  return
}
func.func private @gather(%x: tensor<16xf32>, %i: tensor<16xi64>) -> tensor<16xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %0 = graph.gather_elements %x, %i dim 0 : (tensor<16xf32>, tensor<16xi64>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// The kernel takes each element alone, but of a transposed view of what it overwrites.
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{'symmetric' calls 'add', which overwrites elements of operand 1 before it has read them}}
  exec.run @symmetric "symmetric" micro 0 first true [#exec.place<0 + 0 + 0>]
}
func.func private @symmetric(%x: memref<4x4xf32>) {
  %t = exec.view %x from 0 : memref<4x4xf32> -> memref<4x4xf32, strided<[1, 4]>>
  exec.call @add ins (%x, %t : memref<4x4xf32>, memref<4x4xf32, strided<[1, 4]>>) outs (%x : memref<4x4xf32>) accumulate [0]
  return
}
func.func private @add(%x: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %0 = graph.add %x, %t : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{'twice' calls 'kernel', which writes two results to the same bytes}}
  exec.run @two "twice" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @two(%x: memref<16xf32>, %y: memref<16xf32>) {
  %even = exec.view %y from 0 : memref<16xf32> -> memref<8xf32, strided<[2]>>
  %rest = exec.view %y from 1 : memref<16xf32> -> memref<5xf32, strided<[3]>>
  exec.call @kernel ins (%x : memref<16xf32>) outs (%even, %rest : memref<8xf32, strided<[2]>>, memref<5xf32, strided<[3]>>) accumulate [0, 0]
  return
}

// -----

exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 1
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  // expected-error @+1 {{'scratch' calls 'kernel', which has a workspace that overlaps an operand or a result}}
  exec.run @scratch "scratch" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<1 + 60 + 0>]
}
func.func private @scratch(%x: memref<16xf32>, %y: memref<16xf32>, %w: memref<4xi8>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) workspace (%w : memref<4xi8>) accumulate [0]
  return
}

// -----

// Where one run of a function is safe, another one is not: its result is where its operand is.
exec.program @train stage 0 micro_batches 2 arena 256 lower_bound 256 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 2
  exec.buffer 1 residuals "i" size 128 offset 64 live 0 to 2
  exec.buffer 2 workspace "y" size 64 offset 192 live 1 to 1
  exec.load micro 0 ["x", "i"] to [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  exec.run @pick "safe" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>]
  // expected-error @+1 {{'in place' calls 'gather', which overwrites elements of operand 0 before it has read them}}
  exec.run @pick "in place" micro 1 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<0 + 0 + 0>]
}
func.func private @pick(%x: memref<16xf32>, %i: memref<16xi64>, %y: memref<16xf32>) {
  exec.call @gather ins (%x, %i : memref<16xf32>, memref<16xi64>) outs (%y : memref<16xf32>) accumulate [0]
  return
}
func.func private @gather(%x: tensor<16xf32>, %i: tensor<16xi64>) -> tensor<16xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %0 = graph.gather_elements %x, %i dim 0 : (tensor<16xf32>, tensor<16xi64>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// At the same addresses: the sum may begin where x was, but may not be what is read.
exec.program @train stage 0 micro_batches 2 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 2
  exec.buffer 2 gradients "sum" size 64 offset 0 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @add "first" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>]
  // expected-error @+1 {{'second' reads slot 0, which overlaps the sum in slot 2, to which the function adds; the value read would include other contributions}}
  exec.run @add "second" micro 1 first false [#exec.place<2 + 0 + 0>, #exec.place<1 + 0 + 0>, #exec.place<2 + 0 + 0>]
}
func.func private @add(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  exec.call @kernel ins (%y : memref<16xf32>) outs (%z : memref<16xf32>) accumulate [2]
  return
}

// -----

// What stands in its bytes is its own still, and yet nobody has promised them for so long: --check and the report would not know.
exec.program @train stage 0 micro_batches 1 arena 128 lower_bound 128 {
  exec.buffer 0 residuals "x" size 64 offset 0 live 0 to 1
  exec.buffer 1 workspace "y" size 64 offset 64 live 1 to 2
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>]
  exec.run @copy "first" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
  // expected-error @+1 {{is action 2, but uses buffer 'x', which lives from action 0 to 1}}
  exec.run @copy "second" micro 0 first true [#exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]
}
func.func private @copy(%x: memref<16xf32>, %y: memref<16xf32>) {
  exec.call @kernel ins (%x : memref<16xf32>) outs (%y : memref<16xf32>) accumulate [0]
  return
}

// -----

// A bucket keeps its parameters and the states of its optimizer.
module attributes {graph.groups = [{kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.9 : f64}]} {
sched.bucket @b ["w"] at [0] sizes [64] elements 64 group 0 params whole grads whole states whole
// expected-error @+1 {{has no place for 'b/momentum', a state of bucket 'b'}}
exec.program @train stage 0 micro_batches 1 arena 512 lower_bound 512 {
  exec.buffer 0 parameters "b" size 256 offset 0 live 0 to 0 persistent
  exec.state value of @b 64 x f32 begins parameters at <0 + 0 + 0>
}
}

// -----

module {
sched.bucket @b ["w"] at [0] sizes [64] elements 64 group -1 params whole grads whole states whole
exec.program @train stage 0 micro_batches 1 arena 512 lower_bound 512 {
  exec.buffer 0 parameters "b" size 256 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{does not match bucket 'b', which requires 64 elements of 'f32' with initial values 'parameters'}}
  exec.state value of @b 32 x f32 begins parameters at <0 + 0 + 0>
}
}
