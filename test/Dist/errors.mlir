// What is no mesh, no group, no layout, and collectives whose pieces do not fit.
// RUN: xlc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{invalid mesh: pp = 1, dp = 6, tp = 2 and shards = 4; all must be at least 1, and shards must divide dp}}
func.func private @mesh() attributes {mesh = #dist.mesh<pp = 1, dp = 6, tp = 2, shards = 4>}

// -----

// expected-error @+1 {{each digit must be a pair of a count and a stride, both at least 1}}
func.func private @digits() attributes {group = #dist.group<tp, [4], []>}

// -----

// expected-error @+1 {{stages must be in ascending order, but 1 precedes 0}}
func.func private @stages() attributes {group = #dist.group<pp, [1, 1], [1, 0]>}

// -----

// expected-error @+1 {{dimension 2 is out of range for rank 2}}
func.func private @dimension() attributes {layout = #dist.layout<[4, 6] dim 2 outer 1 over <tp, [2, 1], []>>}

// -----

// expected-error @+1 {{dimension 1 of size 6 cannot be divided into 4 equal parts}}
func.func private @runs() attributes {layout = #dist.layout<[4, 6] dim 1 outer 4 over <tp, [2, 1], []>>}

// -----

func.func @pieces(%x: tensor<2x3xf32>) -> tensor<2x7xf32> {
  // expected-error @+1 {{pieces of type 'tensor<2x3xf32>' on 2 ranks do not form 'tensor<2x7xf32>' in dimension 1}}
  %y = dist.all_gather %x dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x3xf32> -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}

// -----

func.func @ranks(%x: tensor<2x3xf32>) -> tensor<2x6x1xf32> {
  // expected-error @+1 {{needs two tensors of equal rank that have dimension 1, but has 'tensor<2x3xf32>' and 'tensor<2x6x1xf32>'}}
  %y = dist.all_gather %x dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x3xf32> -> tensor<2x6x1xf32>
  return %y : tensor<2x6x1xf32>
}

// -----

func.func @blocks(%x: tensor<2x6xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{dimension 1 of 'tensor<2x3xf32>' cannot be divided into 2 equal parts}}
  %y = dist.reduce_scatter %x dim 1 outer 2 over <tp, [2, 1], []> : tensor<2x6xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @turn(%x: tensor<2x6xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{pieces of type 'tensor<4x6xf32>' on 2 ranks do not form 'tensor<4x6xf32>' in dimension 1}}
  %y = dist.all_to_all %x from 0 outer 1 to 1 outer 1 over <tp, [2, 1], []> : tensor<2x6xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @turn(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // expected-error @+1 {{cannot move the split from dimension 1 of 'tensor<2x6xf32>' to dimension 1 of 'tensor<2x6xf32>'; these must be different dimensions of tensors of equal rank}}
  %y = dist.all_to_all %x from 1 outer 1 to 1 outer 3 over <tp, [2, 1], []> : tensor<2x6xf32> -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

// expected-error @+1 {{has dist.mesh = 2 : i64; only a module may have this attribute, with a #dist.mesh as its value}}
module attributes {dist.mesh = 2 : i64} {}

// -----

// expected-error @+1 {{has dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 1>; only a module may have this attribute, with a #dist.mesh as its value}}
func.func private @mesh() attributes {dist.mesh = #dist.mesh<pp = 1, dp = 2, tp = 1, shards = 1>}
