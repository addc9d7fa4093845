// A sum whose terms the ranks have is made before a rank takes its piece of what repeats it: a piece of one rank's term is no
// term of the piece.
// RUN: xlc-opt %s --xlc-test-set-mesh=tp=2 --xlc-partition=pins=v:1 --xlc-verify-sharded 2>&1 | FileCheck %s
// CHECK-NOT: warning
// CHECK: %[[TERMS:.*]] = graph.contract "ab,cb->ac" {{.*}} -> tensor<1x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = dist.all_reduce sum %[[TERMS]]
// CHECK: graph.broadcast %[[SUM]] {dist.cut = array<i64: 0, 1, 2>{{.*}}} : tensor<1x4xf32> -> tensor<2x4xf32>
#F = #graph.role<F>
#u1 = #graph.unit<"layer", 1>
func.func @micro_batch(%x: tensor<1x4xf32>, %w: tensor<4x4xf32> {graph.param = "w"}, %v: tensor<4x4xf32> {graph.param = "v"})
    -> (tensor<4x4xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,cb->ac" %x, %w {graph.unit = #u1, graph.role = #F} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = graph.contract "ab,cb->ac" %0, %v {graph.unit = #u1, graph.role = #F} : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %2 = graph.broadcast %1 {graph.unit = #u1, graph.role = #F} : tensor<1x4xf32> -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
