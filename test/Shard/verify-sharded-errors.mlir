// The gate of Shard: partial sums used as if they were whole, and pieces that do not belong together.
// RUN: xlc-opt %s --xlc-verify-sharded --split-input-file --verify-diagnostics

// A bias added on every rank.
!piece = tensor<4x2xf32>
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x3xf32> {graph.input = "x"},
                       %w: tensor<3x2xf32> {graph.param = "w", dist.layout = #dist.layout<[3, 4] dim 1 outer 1 over <tp, [2, 1], []>>},
                       %v: tensor<2x3xf32> {graph.param = "v", dist.layout = #dist.layout<[4, 3] dim 0 outer 1 over <tp, [2, 1], []>>},
                       %b: tensor<3xf32> {graph.param = "b"}) -> tensor<4x3xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> !piece
  %1 = graph.contract "ab,bc->ac" %0, %v : (!piece, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = graph.broadcast %b : tensor<3xf32> -> tensor<4x3xf32>
  // expected-error @+1 {{gate of Shard: 'graph.add' uses a partial sum as a complete one}}
  %3 = graph.add %1, %2 : tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}
}

// -----

// A sum that is squared before it is made.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>}) -> tensor<4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.reduce sum %x dims [1] : tensor<4x2xf32> -> tensor<4xf32>
  // expected-error @+1 {{gate of Shard: 'graph.mul' uses a partial sum as a complete one}}
  %1 = graph.mul %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
}

// -----

// A gradient that nobody reduces.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// expected-error @+1 {{gate of Shard: the gradient of 'w' is a partial sum, but is not declared as one}}
func.func @micro_batch(%w: tensor<4xf32> {graph.param = "w"},
                       %x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>})
    -> (tensor<4xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.reduce sum %x dims [1] : tensor<4x2xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// One that is declared and is not.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// expected-error @+1 {{gate of Shard: the gradient of 'w' is not a partial sum, but is declared as one}}
func.func @micro_batch(%w: tensor<4xf32> {graph.param = "w"}, %x: tensor<4xf32>)
    -> (tensor<4xf32> {graph.grad = "w", dist.partial = #dist.group<tp, [2, 1], []>}) attributes {graph.entry = #graph.purpose<train>} {
  return %x : tensor<4xf32>
}
}

// -----

// Two contributions of which one is.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// expected-error @+1 {{gate of Shard: some of the contributions to the gradient of 'w' are partial sums, and some are not}}
func.func @micro_batch(%w: tensor<4xf32> {graph.param = "w"}, %y: tensor<4xf32>,
                       %x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>})
    -> (tensor<4xf32> {graph.grad = "w", dist.partial = #dist.group<tp, [2, 1], []>}, tensor<4xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.reduce sum %x dims [1] : tensor<4x2xf32> -> tensor<4xf32>
  return %0, %y : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// expected-error @+1 {{gate of Shard: the gradient of 'x' is not split as its parameter is}}
func.func @micro_batch(%x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>})
    -> (tensor<2x4xf32> {graph.grad = "x"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.transpose %x [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// expected-error @+1 {{gate of Shard: result 0 has a different value on each rank}}
func.func @micro_batch() -> tensor<i64> attributes {graph.entry = #graph.purpose<train>} {
  %0 = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  return %0 : tensor<i64>
}
}

// -----

// A gradient scaled by tp.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'dist.all_reduce' has an operand that is not partial, so each rank would add it again}}
  %0 = dist.all_reduce sum %x over <tp, [2, 1], []> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 4, shards = 1>} {
func.func @micro_batch(%x: tensor<4x1xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [4, 1], []>>}) -> tensor<4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.reduce sum %x dims [1] : tensor<4x1xf32> -> tensor<4xf32>
  // expected-error @+1 {{but the terms of the sum are held by}}
  %1 = dist.all_reduce sum %0 over <tp, [2, 1], []> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>}) -> tensor<8x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'dist.all_gather' gathers a value that is not split as the op declares}}
  %0 = dist.all_gather %x dim 0 outer 1 over <tp, [2, 1], []> : tensor<4x2xf32> -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'dist.reduce_scatter' reduces a value that is not partial over its group}}
  %0 = dist.reduce_scatter %x dim 0 outer 1 over <tp, [2, 1], []> : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 3, shards = 1>} {
func.func @micro_batch(%x: tensor<4x3xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 6] dim 1 outer 1 over <tp, [2, 1], []>>}) -> tensor<12x1xf32> attributes {graph.entry = #graph.purpose<train>} {
  // The columns are split, not the rows.
  // expected-error @+1 {{gate of Shard: 'dist.all_to_all' exchanges a value that is not split as the op declares}}
  %0 = dist.all_to_all %x from 0 outer 1 to 1 outer 1 over <tp, [3, 1], []> : tensor<4x3xf32> -> tensor<12x1xf32>
  return %0 : tensor<12x1xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x3xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 6] dim 1 outer 1 over <tp, [2, 1], []>>}) -> tensor<3x4xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'graph.reshape' has a result that cannot be split like its operand}}
  %0 = graph.reshape %x : tensor<4x3xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
}

// -----

// Columns of one operand, rows of the other.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>},
                       %y: tensor<4x2xf32> {graph.param = "y", dist.layout = #dist.layout<[8, 2] dim 0 outer 1 over <tp, [2, 1], []>>}) -> tensor<4x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'graph.add' has operands whose pieces do not match}}
  %0 = graph.add %x, %y : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
}

// -----

// Two parts on four ranks: their sum would be on all, and nobody knows that it is there twice.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 4, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 2], []>>}) -> tensor<4xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'graph.reduce' sums over 2 pieces on 4 ranks, so that each piece is counted more than once}}
  %0 = graph.reduce sum %x dims [1] : tensor<4x2xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// A softmax over a rank's own columns.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>}) -> tensor<4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.reduce max %x dims [1] : tensor<4x2xf32> -> tensor<4xf32>
  // expected-error @+1 {{gate of Shard: 'graph.neg' uses a result of one rank as if it were equal on all ranks}}
  %1 = graph.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
}

// -----

// Ids of other ranks are looked up, and not masked.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%ids: tensor<3xi64>, %w: tensor<4x2xf32> {graph.param = "w", dist.layout = #dist.layout<[8, 2] dim 0 outer 1 over <tp, [2, 1], []>>}) -> tensor<3x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  %1 = graph.broadcast %0 : tensor<i64> -> tensor<3xi64>
  %2 = graph.sub %ids, %1 : tensor<3xi64>
  %3 = graph.gather %w, %2 dim 0 : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  // expected-error @+1 {{gate of Shard: 'graph.neg' uses a result of one rank as if it were equal on all ranks}}
  %4 = graph.neg %3 : tensor<3x2xf32>
  return %4 : tensor<3x2xf32>
}
}

// -----

// Masked by what all ranks say alike.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%ids: tensor<3xi64>, %mask: tensor<3x2xi1>, %zero: tensor<3x2xf32>,
                       %w: tensor<4x2xf32> {graph.param = "w", dist.layout = #dist.layout<[8, 2] dim 0 outer 1 over <tp, [2, 1], []>>}) -> tensor<3x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  %1 = graph.broadcast %0 : tensor<i64> -> tensor<3xi64>
  %2 = graph.sub %ids, %1 : tensor<3xi64>
  %3 = graph.gather %w, %2 dim 0 : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  // expected-error @+1 {{gate of Shard: 'graph.select' does not mask the results of a lookup for rows of other ranks}}
  %4 = graph.select %mask, %3, %zero : tensor<3x2xi1>, tensor<3x2xf32>
  return %4 : tensor<3x2xf32>
}
}

// -----

// A slice of what was already cut, by the places of another cut.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 4, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 8] dim 1 outer 1 over <tp, [4, 1], []>>}) -> tensor<2x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  %1 = graph.broadcast %0 : tensor<i64> -> tensor<2xi64>
  // expected-error @+1 {{gate of Shard: 'graph.gather' has indices that can refer to rows of other ranks}}
  %2 = graph.gather %x, %1 dim 0 : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%ids: tensor<3xi64>, %dy: tensor<3x2xf32>) -> tensor<4x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  %1 = graph.broadcast %0 : tensor<i64> -> tensor<3xi64>
  %2 = graph.sub %ids, %1 : tensor<3xi64>
  // expected-error @+1 {{gate of Shard: 'graph.scatter_add' adds rows that this rank does not own}}
  %3 = graph.scatter_add %2, %dy dim 0 : (tensor<3xi64>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}
}

// -----

// Half of the query heads with all key heads.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%q: tensor<1x4x1x8xf32> {graph.param = "q", dist.layout = #dist.layout<[1, 4, 2, 8] dim 2 outer 1 over <tp, [2, 1], []>>},
                       %k: tensor<1x4x1x8xf32>, %v: tensor<1x4x1x8xf32> {graph.param = "v", dist.layout = #dist.layout<[1, 4, 2, 8] dim 2 outer 1 over <tp, [2, 1], []>>}) -> tensor<1x4x1x8xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'graph.attention' has operands whose heads are split differently}}
  %out, %lse = graph.attention causal %q, %k, %v scale 1.0 : (tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> (tensor<1x4x1x8xf32>, tensor<1x1x4xf64>)
  return %out : tensor<1x4x1x8xf32>
}
}

// -----

// After DataParallel: a bucket that does not say that its gradient is still to be summed.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
sched.bucket @bucket_0 ["b"] at [0] sizes [4] elements 64 group 0 params whole grads whole states whole
func.func private @layer_B(%dy: tensor<4x2xf32>) -> tensor<4xf32> {
  %0 = graph.reduce sum %dy dims [1] : tensor<4x2xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @layer_F(%w: tensor<4x2xf32>) -> tensor<4x2xf32> {
  return %w : tensor<4x2xf32>
}
sched.bucket @bucket_1 ["w"] at [0] sizes [8] elements 64 group 0 params whole grads whole states whole {layouts = [#dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>]}
sched.timeline @train stage 0 micro_batches 1 {
  %0 = sched.run @layer_F <"layer", 0> micro 0() params ["w"] stores [] accumulate [] : () -> tensor<4x2xf32>
  // expected-error @+1 {{gate of Shard: the gradient of 'b' is a partial sum, but is not declared as one}}
  sched.run @layer_B <"layer", 0> micro 0(%0) params [] stores ["b"] accumulate [false] role <B> : (tensor<4x2xf32>) -> ()
}
}

// -----

// A partial sum that is sent, and squared by the next stage.
module attributes {dist.mesh = #dist.mesh<pp = 2, dp = 1, tp = 2, shards = 1>} {
sched.bucket @bucket_0 ["w"] at [0] sizes [8] elements 64 group 0 params whole grads whole states whole {layouts = [#dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>]}
func.func private @first_F(%w: tensor<4x2xf32>) -> tensor<4xf32> {
  %0 = graph.reduce sum %w dims [1] : tensor<4x2xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @second_F(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{gate of Shard: 'graph.mul' uses a partial sum as a complete one}}
  %0 = graph.mul %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
sched.timeline @train_1 stage 1 micro_batches 1 {
  %0 = sched.receive message 0 from 0 micro 0 : tensor<4xf32>
  %1 = sched.run @second_F <"layer", 1> micro 0(%0) params [] stores [] accumulate [] : (tensor<4xf32>) -> tensor<4xf32>
}
sched.timeline @train_0 stage 0 micro_batches 1 {
  %0 = sched.run @first_F <"layer", 0> micro 0() params ["w"] stores [] accumulate [] : () -> tensor<4xf32>
  sched.send %0 message 0 to 1 micro 0 : tensor<4xf32>
}
}

// -----

// One is no term of any sum, as zero is.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// expected-error @+1 {{gate of Shard: the gradient of 'w' is not a partial sum, but is declared as one}}
func.func @micro_batch(%w: tensor<4xf32> {graph.param = "w"})
    -> (tensor<4xf32> {graph.grad = "w", dist.partial = #dist.group<tp, [2, 1], []>}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

// The same element of a whole tensor on every rank is no piece of it.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%w: tensor<1xf32> {graph.param = "w", dist.layout = #dist.layout<[2] dim 0 outer 1 over <tp, [2, 1], []>>},
                       %b: tensor<2xf32> {graph.param = "b"}) -> (tensor<1xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.slice %b from [0] by [1] : tensor<2xf32> -> tensor<1xf32>
  // expected-error @+1 {{gate of Shard: 'graph.mul' has operands whose pieces do not match}}
  %1 = graph.mul %w, %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}
}

// -----

// Each rank has two of four equal rows: what they add up to is a term of a sum.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
// expected-error @+1 {{gate of Shard: the gradient of 'w' is a partial sum, but is not declared as one}}
func.func @micro_batch(%w: tensor<3xf32> {graph.param = "w"}, %dy: tensor<1x3xf32>,
                       %x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>})
    -> (tensor<3xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.broadcast %dy {dist.cut = array<i64: 0, 1, 2>} : tensor<1x3xf32> -> tensor<2x3xf32>
  %1 = graph.reduce sum %0 dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
}

// -----

module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%dy: tensor<1x3xf32>,
                       %x: tensor<4x2xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>}) -> tensor<2x3xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'graph.broadcast' has dist.cut, which does not match its result}}
  %0 = graph.broadcast %dy {dist.cut = array<i64: 1, 1, 2>} : tensor<1x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
}
