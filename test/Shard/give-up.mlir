// Where the gate cannot prove what the search chose, the op is done whole by every rank, as are its counterparts in the other
// units. The doubt is planted: a cut that is none.
// RUN: xlc-opt %s --xlc-test-set-mesh=tp=2 --xlc-partition --xlc-verify-sharded --split-input-file 2> %t.said | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t.said

// SAID: warning: tp = 2 would split the operands of 'graph.reshape' into pieces that cannot be proven to match: every rank computes the whole operation, with more communication
// SAID: note: number of operations that every rank therefore computes as a whole: 2
// SAID-NOT: note:
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[A:.*]] = graph.contract {{.*}} -> tensor<2x2xf32>
// CHECK: %[[B:.*]] = dist.all_gather %[[A]]
// CHECK: graph.reshape %[[B]] {{.*}} -> tensor<2x2x2xf32>
// CHECK: %[[C:.*]] = graph.contract {{.*}} -> tensor<2x2xf32>
// CHECK: %[[D:.*]] = dist.all_gather %[[C]]
// CHECK: graph.reshape %[[D]] {{.*}} -> tensor<2x2x2xf32>
#F = #graph.role<F>
#u0 = #graph.unit<"layer", 0>
#u1 = #graph.unit<"layer", 1>
func.func @micro_batch(%x: tensor<2x4xf32>, %w: tensor<4x4xf32> {graph.param = "w"}, %v: tensor<4x4xf32> {graph.param = "v"}) -> tensor<2x2x2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,cb->ac" %x, %w {graph.unit = #u0, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = graph.reshape %0 {dist.cut = array<i64: 9, 9>, graph.unit = #u0, graph.role = #F} : tensor<2x4xf32> -> tensor<2x2x2xf32>
  %2 = graph.reshape %1 {graph.unit = #u0, graph.role = #F} : tensor<2x2x2xf32> -> tensor<2x4xf32>
  %3 = graph.contract "ab,cb->ac" %2, %v {graph.unit = #u1, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %4 = graph.reshape %3 {graph.unit = #u1, graph.role = #F} : tensor<2x4xf32> -> tensor<2x2x2xf32>
  %5 = graph.scale %4 by 2 over 1 {graph.unit = #u1, graph.role = #F} : tensor<2x2x2xf32>
  return %5 : tensor<2x2x2xf32>
}

// -----

// An op that reads a matrix: the matrix is whole on every rank.
// SAID: warning: tp = 2 would split the operands of 'graph.reshape'
// SAID: note: number of operations that every rank therefore computes as a whole: 1
// SAID: note: number of parameters that every rank therefore keeps as a whole: 1; the first is 'w'
// CHECK-LABEL: func.func @micro_batch
// CHECK-SAME: tensor<4x4xf32> {graph.param = "w"}
// CHECK-SAME: dist.layout = {{.*}} graph.param = "v"
#F = #graph.role<F>
#u0 = #graph.unit<"layer", 0>
#u1 = #graph.unit<"layer", 1>
func.func @micro_batch(%x: tensor<2x4xf32>, %w: tensor<4x4xf32> {graph.param = "w"}, %v: tensor<4x4xf32> {graph.param = "v"}) -> tensor<2x4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.reshape %w {dist.cut = array<i64: 9, 9>, graph.unit = #u0, graph.role = #F} : tensor<4x4xf32> -> tensor<2x2x4xf32>
  %1 = graph.reshape %0 {graph.unit = #u0, graph.role = #F} : tensor<2x2x4xf32> -> tensor<4x4xf32>
  %2 = graph.contract "ab,cb->ac" %x, %1 {graph.unit = #u0, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %3 = graph.contract "ab,cb->ac" %2, %w {graph.unit = #u0, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %4 = graph.contract "ab,cb->ac" %3, %v {graph.unit = #u1, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}
