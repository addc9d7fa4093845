// What a call, a buffer or an action says of itself must agree, and it stands where it belongs.
// RUN: xlc-opt %s --split-input-file --verify-diagnostics

func.func private @view(%x: memref<16xf32>) {
  // expected-error @+1 {{views elements 10 to 17, but the slot has 16 elements}}
  %v = exec.view %x from 10 : memref<16xf32> -> memref<2x4xf32, strided<[4, 1]>>
  return
}

// -----

func.func private @strides(%x: memref<16xf32>) {
  // expected-error @+1 {{has a result without a strided layout}}
  %v = exec.view %x from 0 : memref<16xf32> -> memref<2x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>
  return
}

// -----

func.func private @stages(%x: memref<2x4xf32>) {
  // expected-error @+1 {{within a function, all ranks of a group must be of one stage}}
  exec.collective all_reduce %x to %x over <world, [2, 1], [0, 1]> outer 2 chunk 4 : memref<2x4xf32>, memref<2x4xf32>
  return
}

// -----

func.func private @call(%x: memref<16xf32>) {
  // expected-error @+1 {{has 1 outs, but accumulate has 2 entries}}
  exec.call @kernel outs (%x : memref<16xf32>) accumulate [0, 1]
  return
}

// -----

func.func private @call(%x: memref<16xf32>) {
  // expected-error @+1 {{has accumulate = 3, which must be 0 (never), 1 (always) or 2 (later)}}
  exec.call @kernel outs (%x : memref<16xf32>) accumulate [3]
  return
}

// -----

func.func private @gather(%x: memref<2x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{over 2 ranks requires 8 source and 16 result elements, but has 8 and 8}}
  exec.collective all_gather %x to %y over <tp, [2, 1], []> outer 2 chunk 4 : memref<2x4xf32>, memref<2x4xf32>
  return
}

// -----

func.func private @exchange(%x: memref<2x4xf32>, %y: memref<2x8xf32>) {
  // expected-error @+1 {{over 2 ranks requires 16 source and 16 result elements, but has 8 and 16}}
  exec.collective all_to_all %x to %y over <tp, [2, 1], []> outer 2 chunk 4 : memref<2x4xf32>, memref<2x8xf32>
  return
}

// -----

// expected-error @+1 {{expects parent op 'exec.program'}}
exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0

// -----

// expected-error @+1 {{expects parent op 'exec.program'}}
exec.begin []

// -----

// expected-error @+1 {{has 0 micro-batches, but must have at least 1}}
exec.program @train stage 0 micro_batches 0 arena 0 lower_bound 0 {
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  // expected-error @+1 {{has number 1, but must have number 0; buffers are numbered in order}}
  exec.buffer 1 workspace "x" size 64 offset 0 live 0 to 0
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.begin []
  // expected-error @+1 {{is misplaced; a program has buffers first, then states, then actions}}
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  // expected-error @+1 {{is in a program, but is not a buffer, a state or an action}}
  %0 = graph.constant dense<1.0> : tensor<f32>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  // expected-error @+1 {{has an invalid size, offset or lifetime: 64 bytes at offset 0, live from action 2 to 1}}
  exec.buffer 0 workspace "x" size 64 offset 0 live 2 to 1
}

// -----

exec.program @train stage 0 micro_batches 1 arena 0 lower_bound 0 {
  // expected-error @+1 {{reads 1 inputs, but has 0 places}}
  exec.load micro 0 ["x"] to []
}

// -----

exec.program @train stage 0 micro_batches 1 arena 0 lower_bound 0 {
  // expected-error @+1 {{array of places}}
  exec.begin ["x"]
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 optimizer "scalars" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{has the numbers of optimizer group 1 at #exec.place<0 + 32 + 16>; they are equal on all ranks}}
  exec.begin [#exec.place<0 + 0 + 0>, #exec.place<0 + 32 + 16>]
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 optimizer "scalars" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{has 'loss_scale' at #exec.place<0 + 32 + 4>; it is equal on all ranks}}
  exec.begin [#exec.place<0 + 0 + 0>] numbers ["loss_scale"] at [#exec.place<0 + 32 + 4>]
}

// -----

exec.program @layer_F stage 0 micro_batches 1 arena 0 lower_bound 0 {
  // expected-error @+1 {{runs 'layer_F', which is not a function of the module}}
  exec.run @layer_F "layer[0] F" micro 0 first true []
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{cannot transfer -1 elements of type 'f32'; the count must be at least 0, and the type f64, f32, f16, bf16, i64, i32 or i1}}
  exec.exchange all_gather "all_gather x" over <dp, [2, 1], []> <0 + 0 + 32> to <0 + 0 + 0> count -1 f32
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{cannot transfer 8 elements of type 'index'; the count must be at least 0, and the type f64, f32, f16, bf16, i64, i32 or i1}}
  exec.exchange reduce_scatter "reduce_scatter x" over <dp, [2, 1], []> <0 + 0 + 0> to <0 + 0 + 32> count 8 index
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{accumulates the result of an all_gather; only a reduce_scatter may accumulate}}
  exec.exchange all_gather "all_gather x" over <dp, [2, 1], []> <0 + 0 + 32> to <0 + 0 + 0> count 8 f32 accumulate
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 2>} {
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{of kind all_gather sends 'f32' as 'bf16'; only the operands of a sum of f32 can be sent as bf16 or f16}}
  exec.exchange all_gather "all_gather x" over <dp, [2, 1], []> <0 + 0 + 32> to <0 + 0 + 0> count 8 f32 as bf16
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{of kind all_gather is over #dist.group<world, [1, 1], [0, 1]>; only an all_reduce may span several stages}}
  exec.exchange all_gather "all_gather x" over <world, [1, 1], [0, 1]> <0 + 0 + 32> to <0 + 0 + 0> count 8 f32
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{has message -1 and peer stage 1; both must be at least 0}}
  exec.send "send" message -1 to 1 <0 + 0 + 0> bytes 64
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 1, shards = 1>} {
exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{has -4 bytes, but must have at least 0}}
  exec.receive "receive" message 0 from 1 <0 + 0 + 0> bytes -4
}
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{has -1 bytes, but must have at least 0}}
  exec.release "release" <0 + 0 + 0> bytes -1
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "x" size 64 offset 0 live 0 to 1
  // expected-error @+1 {{is action 0 of 2, so its window of 1 actions before and 0 after it exceeds the program}}
  exec.load micro 0 ["x"] to [#exec.place<0 + 0 + 0>] on copy early 1
  exec.release "release" <0 + 0 + 0> bytes 64
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'value' must have a bucket}}
  exec.state value 16 x f32 begins parameters at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'counter' must not have a bucket}}
  exec.state counter "applied" of @b 1 x f32 begins one at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'site' must have a site number}}
  exec.state site 1 x i64 begins site at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'site' cannot begin with 'index'}}
  exec.state site number 3 1 x i64 begins index at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'index' must have a group}}
  exec.state index 1 x i64 begins index at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'optimizer' must have a name}}
  exec.state optimizer of @b 16 x f32 begins zero at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'counter' must be a single number, but has 2 elements}}
  exec.state counter "applied" 2 x f32 begins one at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'counter' cannot begin with 'parameters'}}
  exec.state counter "applied" 1 x f32 begins parameters at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'value' cannot begin with 'index'}}
  exec.state value of @b 16 x f32 begins index at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{uses buffer 3, which must be below 1}}
  exec.state value of @b 16 x f32 begins parameters at <3 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{is in buffer 'b', which is not persistent}}
  exec.state value of @b 16 x f32 begins parameters at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{occupies bytes 4 to 68 of buffer 'b', which has 64 bytes}}
  exec.state value of @b 16 x f32 begins parameters at <0 + 4 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  exec.state value of @b 16 x f32 begins parameters at <0 + 0 + 0>
  // expected-error @+1 {{occurs twice in the program}}
  exec.state value of @b 8 x f32 begins parameters at <0 + 32 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  exec.begin []
  // expected-error @+1 {{is misplaced; a program has buffers first, then states, then actions}}
  exec.state value of @b 16 x f32 begins parameters at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'counter' must be a single number, but has 1 elements of a shard}}
  exec.state counter "applied" shard 1 x f32 begins one at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 parameters "b" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'value' must have at least 0 elements, but has -1 elements}}
  exec.state value of @b -1 x f32 begins parameters at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "scalars" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{has 2 per-step numbers, but 1 places for them}}
  exec.begin [] numbers ["loss_scale", "random_key"] at [#exec.place<0 + 0 + 0>]
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "scalars" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{writes 'learning_rate', which is not a per-step number written by the host}}
  exec.begin [] numbers ["learning_rate"] at [#exec.place<0 + 0 + 0>]
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "scalars" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{writes 'random_key' twice}}
  exec.begin [] numbers ["random_key", "random_key"] at [#exec.place<0 + 0 + 0>, #exec.place<0 + 8 + 0>]
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "b/members" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'members' cannot begin with 'zero'}}
  exec.state members of @b 5 x i64 begins zero at <0 + 0 + 0>
}

// -----

exec.program @train stage 0 micro_batches 1 arena 64 lower_bound 64 {
  exec.buffer 0 workspace "b/members" size 64 offset 0 live 0 to 0 persistent
  // expected-error @+1 {{of kind 'members' must have a bucket}}
  exec.state members 5 x i64 begins members at <0 + 0 + 0>
}

// -----

exec.program @evaluate stage 0 micro_batches 1 arena 64 lower_bound 64 purpose <evaluate> {
  exec.buffer 0 workspace "logits" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{has 1 outputs, 0 types and 1 places; these numbers must be equal and at least 1}}
  exec.store micro 0 ["logits"] from [#exec.place<0 + 0 + 0>] []
}

// -----

exec.program @evaluate stage 0 micro_batches 1 arena 64 lower_bound 64 purpose <evaluate> {
  exec.buffer 0 workspace "logits" size 64 offset 0 live 0 to 0
  // expected-error @+1 {{stores an output of type 'f32', which is not a tensor type}}
  exec.store micro 0 ["logits"] from [#exec.place<0 + 0 + 0>] [f32]
}
