// A doubt that stays wherever it is looked for: what comes before the op is whole too, in the end everything, and no parameter is
// split. The planted cut is refused even then, which the gate says.
// RUN: xlc-opt %s --xlc-test-set-mesh=tp=2 --xlc-partition 2> %t.said | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: not xlc-opt %s --xlc-test-set-mesh=tp=2 --xlc-partition --xlc-verify-sharded 2>&1 | FileCheck %s --check-prefix=GATE

// SAID: warning: tp = 2 would split the operands of 'graph.broadcast'
// SAID: note: number of operations that every rank therefore computes as a whole: 4
// SAID: note: number of parameters that every rank therefore keeps as a whole: 2; the first is 'w'
// CHECK-NOT: dist.layout
// GATE: gate of Shard: 'graph.broadcast' has dist.cut, which does not match its result
#F = #graph.role<F>
#u0 = #graph.unit<"layer", 0>
#u1 = #graph.unit<"layer", 1>
func.func @micro_batch(%x: tensor<2x4xf32>, %w: tensor<4x4xf32> {graph.param = "w"}, %v: tensor<4x4xf32> {graph.param = "v"}) -> tensor<3x2x4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,cb->ac" %x, %w {graph.unit = #u0, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = graph.exp %0 {graph.unit = #u0, graph.role = #F} : tensor<2x4xf32>
  %2 = graph.contract "ab,cb->ac" %1, %v {graph.unit = #u1, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %3 = graph.broadcast %x {dist.cut = array<i64: 9, 9, 9>, graph.unit = #u1, graph.role = #F} : tensor<2x4xf32> -> tensor<3x2x4xf32>
  return %3 : tensor<3x2x4xf32>
}
