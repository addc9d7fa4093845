// The gate of Shard: what is equal along a dimension is each rank's piece along it as well as the whole.
// RUN: xlc-opt %s --xlc-verify-sharded --split-input-file

// Places along another dimension than the cut.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2x3xi64> {graph.param = "x", dist.layout = #dist.layout<[4, 4, 3] dim 1 outer 1 over <tp, [2, 1], []>>}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.iota dim 2 : tensor<4x2x3xi64>
  %1 = graph.compare eq %x, %0 : tensor<4x2x3xi64> -> tensor<4x2x3xi1>
  return
}
}

// -----

// Rows of a table by one index that is repeated: through shape changes, too.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2x3xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 4, 3] dim 1 outer 1 over <tp, [2, 1], []>>},
                       %table: tensor<5x3xf32> {graph.param = "t"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.constant dense<1> : tensor<2x4xi64>
  %1 = graph.gather %table, %0 dim 0 : (tensor<5x3xf32>, tensor<2x4xi64>) -> tensor<2x4x3xf32>
  %2 = graph.transpose %1 [1, 0, 2] : tensor<2x4x3xf32> -> tensor<4x2x3xf32>
  %3 = graph.add %x, %2 : tensor<4x2x3xf32>
  return
}
}

// -----

// A constant that says that it is a piece: its sum is one of the ranks' terms.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch() -> tensor<3xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.constant {dist.cut = array<i64: 0, 1, 2>} dense<1.0> : tensor<2x3xf32>
  %1 = graph.reduce sum %0 dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  %2 = dist.all_reduce sum %1 over <tp, [2, 1], []> : tensor<3xf32>
  return %2 : tensor<3xf32>
}
}

// -----

// A rank has one element of a dimension, of the data and of the places alike.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x1x3xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 2, 3] dim 1 outer 1 over <tp, [2, 1], []>>},
                       %i: tensor<4x1x1xi64> {graph.param = "i", dist.layout = #dist.layout<[4, 2, 1] dim 1 outer 1 over <tp, [2, 1], []>>}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.gather_elements %x, %i dim 2 : (tensor<4x1x3xf32>, tensor<4x1x1xi64>) -> tensor<4x1x1xf32>
  return
}
}
