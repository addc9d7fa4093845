// RUN: xlc-opt %s --xlc-chunk-loss=rows=4 | FileCheck %s
// RUN: xlc-opt %s --xlc-chunk-loss=rows=6 | FileCheck %s --check-prefix=WHOLE

// Six rows in chunks of four and two, all in backward. The gradient of the matrix is returned in two contributions, the sum
// and the count are added, and what forward makes of the count is made behind.
// CHECK-LABEL: func.func @micro_batch
// CHECK-SAME:  tensor<9x8xf32> {graph.grad = "w"}, tensor<9x8xf32> {graph.grad = "w"})
// CHECK-NOT:   tensor<2x3x9xf32>
// CHECK:       %[[SEED:.*]] = graph.scale
// CHECK:       %[[ROWS:.*]] = graph.reshape %arg1 {graph.role = #graph.role<I>{{.*}} -> tensor<6x8xf32>
// CHECK:       %[[X0:.*]] = graph.slice %[[ROWS]] from [0, 0] by [1, 1] {{.*}} -> tensor<4x8xf32>
// CHECK:       %[[Y0:.*]] = graph.contract "ay,zy->az" %[[X0]], %arg0 {graph.role = #graph.role<I>
// CHECK:       %[[SUM0:.*]], %[[COUNT0:.*]], %[[LSE0:.*]] = graph.cross_entropy %[[Y0]], %[[L0:.*]] ignore -1 {{.*}} (tensor<4x9xf32>, tensor<4xi64>)
// CHECK:       %[[D0:.*]] = graph.cross_entropy_backward %[[Y0]], %{{.*}}, %[[LSE0]], %[[SEED]] ignore -1
// CHECK:       %[[DX0:.*]] = graph.contract "az,zy->ay" %[[D0]], %arg0
// CHECK:       %[[DW0:.*]] = graph.contract "ay,az->zy" %{{.*}}, %[[D0]]
// CHECK:       graph.slice %[[ROWS]] from [4, 0] by [1, 1] {{.*}} -> tensor<2x8xf32>
// CHECK:       %[[DX1:.*]] = graph.contract "az,zy->ay"
// CHECK:       %[[DW1:.*]] = graph.contract "ay,az->zy"
// CHECK:       %[[DX:.*]] = graph.concat %[[DX0]], %[[DX1]] dim 0 {{.*}} -> tensor<6x8xf32>
// CHECK:       graph.reshape %[[DX]] {{.*}} -> tensor<2x3x8xf32>
// CHECK:       %[[SUM:.*]] = graph.add %[[SUM0]], %
// CHECK:       %[[COUNT:.*]] = graph.add %[[COUNT0]], %
// CHECK:       graph.neg %[[SUM]] {graph.role = #graph.role<I>
// CHECK:       return %{{.*}}, %[[COUNT]], %{{.*}}, %[[DW0]], %[[DW1]] :

// No more rows than a chunk: nothing is done.
// WHOLE: graph.contract "axy,zy->axz" {{.*}}role<F>{{.*}} -> tensor<2x3x9xf32>
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<2x3x8xf32> {graph.input = "x"}, %labels: tensor<2x3xi64> {graph.input = "labels"})
    -> (tensor<f32>, tensor<i64>, tensor<2x3x8xf32>, tensor<9x8xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "axy,zy->axz" %x, %w {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : (tensor<2x3x8xf32>, tensor<9x8xf32>) -> tensor<2x3x9xf32>
  %sum, %count, %lse = graph.cross_entropy %y, %labels ignore -1 {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : (tensor<2x3x9xf32>, tensor<2x3xi64>) -> (tensor<f32>, tensor<i64>, tensor<2x3xf64>)
  %loss = graph.neg %sum {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : tensor<f32>
  %one = graph.constant {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} dense<1.0> : tensor<f32>
  %seed = graph.scale %one by 1 over 6 {graph.role = #graph.role<I>, graph.seed, graph.unit = #graph.unit<"head", 0>} : tensor<f32>
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed ignore -1 {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : (tensor<2x3x9xf32>, tensor<2x3xi64>, tensor<2x3xf64>, tensor<f32>) -> tensor<2x3x9xf32>
  %dx = graph.contract "axz,zy->axy" %d, %w {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : (tensor<2x3x9xf32>, tensor<9x8xf32>) -> tensor<2x3x8xf32>
  %dw = graph.contract "axy,axz->zy" %x, %d {graph.role = #graph.role<W>, graph.unit = #graph.unit<"head", 0>} : (tensor<2x3x8xf32>, tensor<2x3x9xf32>) -> tensor<9x8xf32>
  return %loss, %count, %dx, %dw : tensor<f32>, tensor<i64>, tensor<2x3x8xf32>, tensor<9x8xf32>
}
