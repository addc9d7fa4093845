// Gradients of slices that tile a tensor become one concat; where they leave a gap or overlap, padded parts are added.
// RUN: xlc-opt %s --xlc-differentiate --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @micro_batch
// CHECK-NOT: graph.pad
// CHECK: %[[Q:.*]] = graph.mul {{.*}} : tensor<2x2xf32>
// CHECK: %[[D:.*]] = graph.concat %{{.*}}, %{{.*}}, %{{.*}} dim 1 {{.*}} : (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
// CHECK-NOT: graph.pad
// CHECK: return %{{.*}}, %{{.*}}, %[[D]]
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<2x6xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %k = graph.slice %w from [0, 2] by [1, 1] : tensor<2x6xf32> -> tensor<2x1xf32>
  %q = graph.slice %w from [0, 0] by [1, 1] : tensor<2x6xf32> -> tensor<2x2xf32>
  %v = graph.slice %w from [0, 3] by [1, 1] : tensor<2x6xf32> -> tensor<2x3xf32>
  %q2 = graph.mul %q, %q : tensor<2x2xf32>
  %k2 = graph.mul %k, %k : tensor<2x1xf32>
  %v2 = graph.mul %v, %v : tensor<2x3xf32>
  %a = graph.reduce sum %q2 dims [0, 1] : tensor<2x2xf32> -> tensor<f32>
  %b = graph.reduce sum %k2 dims [0, 1] : tensor<2x1xf32> -> tensor<f32>
  %c = graph.reduce sum %v2 dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  %ab = graph.add %a, %b : tensor<f32>
  %abc = graph.add %ab, %c : tensor<f32>
  %n = graph.constant dense<1> : tensor<i64>
  return %abc, %n : tensor<f32>, tensor<i64>
}
}

// -----

// CHECK-LABEL: func.func @micro_batch
// CHECK-NOT: graph.concat
// CHECK: %[[A:.*]] = graph.pad {{.*}} low [3] high [0]
// CHECK: %[[B:.*]] = graph.pad {{.*}} low [0] high [3]
// CHECK: graph.add %[[A]], %[[B]]
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<5xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %q = graph.slice %w from [0] by [1] : tensor<5xf32> -> tensor<2xf32>
  %k = graph.slice %w from [3] by [1] : tensor<5xf32> -> tensor<2xf32>
  %p = graph.mul %q, %k : tensor<2xf32>
  %a = graph.reduce sum %p dims [0] : tensor<2xf32> -> tensor<f32>
  %n = graph.constant dense<1> : tensor<i64>
  return %a, %n : tensor<f32>, tensor<i64>
}
}
