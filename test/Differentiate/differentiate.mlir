// Backward of a linear layer with cross-entropy: one contraction for the weight, a sum over rows for
// the bias, none for the input, which no parameter reaches.
// RUN: xlc-opt %s --xlc-differentiate --canonicalize --xlc-verify-differentiated | FileCheck %s

module attributes {graph.nominal_count = 8 : i64} {
// CHECK-LABEL: func.func @micro_batch
// CHECK-SAME: -> (tensor<f32>, tensor<i64>, tensor<3x4xf32> {graph.grad = "w"}, tensor<4xf32> {graph.grad = "b"})
func.func @forward(%w: tensor<3x4xf32> {graph.param = "w"}, %b: tensor<4xf32> {graph.param = "b"},
                   %x: tensor<2x3xf32> {graph.input = "x"}, %labels: tensor<2xi64> {graph.input = "y"})
    -> (tensor<f32>, tensor<i64>) {
  // CHECK: graph.contract "ab,bc->ac" {{.*}}graph.role = #graph.role<F>
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = graph.broadcast %b : tensor<4xf32> -> tensor<2x4xf32>
  %2 = graph.add %0, %1 : tensor<2x4xf32>
  // CHECK: %[[SUM:.*]], %[[COUNT:.*]], %[[LSE:.*]] = graph.cross_entropy
  %sum, %count, %lse = graph.cross_entropy %2, %labels ignore -100
      : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  // CHECK: %[[SEED:.*]] = graph.scale {{.*}} by 1 over 8
  // CHECK: %[[DLOGITS:.*]] = graph.cross_entropy_backward {{.*}}, %[[LSE]], %[[SEED]]
  // CHECK: %[[DB:.*]] = graph.reduce  sum %[[DLOGITS]] dims [0]
  // CHECK: %[[DW:.*]] = graph.contract "ab,ac->bc" %{{.*}}, %[[DLOGITS]] {{.*}}graph.role = #graph.role<W>
  // CHECK: return %[[SUM]], %[[COUNT]], %[[DW]], %[[DB]]
  return %sum, %count : tensor<f32>, tensor<i64>
}
}
