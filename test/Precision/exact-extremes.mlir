// The gradient of a maximum looks for the result among the elements: where the result were rounded and the elements were not,
// it would find none, and divide by zero. So the result stays f32, although it is a logit, which is rounded else.
// RUN: xlc-opt %s --xlc-insert-casts=compute=bf16 | FileCheck %s

// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[Y:.*]] = graph.scatter_elements max %{{.*}} -> tensor<2x4xf32>
// CHECK: graph.cross_entropy %[[Y]], %{{.*}}
// CHECK: graph.compare eq %{{.*}}, %[[Y]]
// CHECK: %[[TAKEN:.*]] = graph.gather_elements %[[Y]]
// CHECK: graph.compare eq %{{.*}}, %[[TAKEN]]

// Logits that nothing looks for are rounded.
// CHECK: %[[Z:.*]] = graph.scatter_elements max %{{.*}} -> tensor<2x4xf32>
// CHECK: graph.cast %[[Z]] {{.*}}: tensor<2x4xf32> -> tensor<2x4xbf16>
func.func @micro_batch(%w: tensor<2x4xf32> {graph.param = "w"}, %at: tensor<2x4xi64> {graph.input = "at"}, %labels: tensor<2xi64> {graph.input = "labels"}) -> (tensor<f32>, tensor<f32>, tensor<2x4xi1>, tensor<2x4xi1>) attributes {graph.entry = #graph.purpose<train>} {
  %x = graph.tanh %w {graph.role = #graph.role<F>} : tensor<2x4xf32>
  %y = graph.scatter_elements max %x, %at, %x dim 1 {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum, %count, %lse = graph.cross_entropy %y, %labels ignore -100 {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf64>)
  %kept = graph.compare eq %x, %y {graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<2x4xi1>
  %taken = graph.gather_elements %y, %at dim 1 {graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>
  %given = graph.compare eq %x, %taken {graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<2x4xi1>
  %z = graph.scatter_elements max %x, %at, %x dim 1 {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum1, %count1, %lse1 = graph.cross_entropy %z, %labels ignore -100 {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf64>)
  return %sum, %sum1, %kept, %given : tensor<f32>, tensor<f32>, tensor<2x4xi1>, tensor<2x4xi1>
}
