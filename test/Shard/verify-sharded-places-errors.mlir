// The gate of Shard: what differs along a dimension is no piece along it.
// RUN: xlc-opt %s --xlc-verify-sharded --split-input-file --verify-diagnostics

// Every rank counts from zero.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<4x2xi64> {graph.param = "x", dist.layout = #dist.layout<[4, 4] dim 1 outer 1 over <tp, [2, 1], []>>}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.iota dim 1 : tensor<4x2xi64>
  // expected-error @+1 {{gate of Shard: 'graph.compare' has operands whose pieces do not match}}
  %1 = graph.compare eq %x, %0 : tensor<4x2xi64> -> tensor<4x2xi1>
  return
}
}

// -----

// And says that this is its piece.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch() attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'graph.iota' has dist.cut, which does not match its result}}
  %0 = graph.iota dim 1 {dist.cut = array<i64: 1, 1, 2>} : tensor<4x2xi64>
  return
}
}

// -----

// Every rank takes the first rows of a table.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%x: tensor<2x3xf32> {graph.param = "x", dist.layout = #dist.layout<[4, 3] dim 0 outer 1 over <tp, [2, 1], []>>},
                       %table: tensor<5x3xf32> {graph.param = "t"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.constant dense<[0, 1]> : tensor<2xi64>
  %1 = graph.gather %table, %0 dim 0 : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-error @+1 {{gate of Shard: 'graph.add' has operands whose pieces do not match}}
  %2 = graph.add %x, %1 : tensor<2x3xf32>
  return
}
}

// -----

// Ids of the whole table, looked up among a rank's rows.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch(%ids: tensor<4xi64>,
                       %table: tensor<5x3xf32> {graph.param = "t", dist.layout = #dist.layout<[10, 3] dim 0 outer 1 over <tp, [2, 1], []>>}) attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Shard: 'graph.gather' has operands whose pieces do not match}}
  %0 = graph.gather %table, %ids dim 0 : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return
}
}

// -----

// Half of a sum, taken for the whole: the other half is another rank's.
module attributes {dist.mesh = #dist.mesh<pp = 1, dp = 1, tp = 2, shards = 1>} {
func.func @micro_batch() -> tensor<3xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.constant {dist.cut = array<i64: 0, 1, 2>} dense<1.0> : tensor<2x3xf32>
  %1 = graph.reduce sum %0 dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  // expected-error @+1 {{gate of Shard: 'graph.mul' uses a partial sum as a complete one}}
  %2 = graph.mul %1, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}
}
