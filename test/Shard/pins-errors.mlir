// A dimension that is given, and that the unit cannot do with: its softmax needs rows whole.
// RUN: not xlc-opt %s --xlc-test-set-mesh=tp=2 --xlc-partition=pins=w:1 2>&1 | FileCheck %s
// CHECK: error: tp = 2: the matrices of unit 'layer' cannot all be split without moving their elements
// CHECK: note: layout allows a split of 'w' only along dimension 1
// RUN: xlc-opt %s --xlc-test-set-mesh=tp=2 --xlc-partition=pins=w:0 | FileCheck %s --check-prefix=ROWS
// ROWS: dist.layout = #dist.layout<[4, 4] dim 0 outer 1
#unit = #graph.unit<"layer", 1>
#F = #graph.role<F>
func.func @micro_batch(%x: tensor<2x4xf32>, %w: tensor<4x4xf32> {graph.param = "w"}) -> tensor<2x4xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.softmax %w {graph.unit = #unit, graph.role = #F} : tensor<4x4xf32>
  %1 = graph.contract "ab,bc->ac" %x, %w {graph.unit = #unit, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %2 = graph.contract "ab,bc->ac" %1, %0 {graph.unit = #unit, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
