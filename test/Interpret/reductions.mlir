// Reductions and contractions, with dimensions of size 1 and letters in every pair of places.
// RUN: xlc-opt --xlc-interpret %s | FileCheck %s
// RUN: xlc-opt --xlc-interpret=arithmetic=field %s | FileCheck %s

// CHECK: // reduce.0: tensor<2xf32> [6, 3]
// CHECK: // reduce.1: tensor<3xf32> [4, 2, 3]
// CHECK: // reduce.2: tensor<3xf32> [1, -4, 3]
// CHECK: // reduce.3: tensor<f32> [-288]
// CHECK: // reduce.4: tensor<2x3xf32> [1, 2, 3, 4, -4, 3]
func.func @reduce() -> (tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3xf32>) {
  %x = graph.constant dense<[[[1.0, 2.0, 3.0]], [[4.0, -4.0, 3.0]]]> : tensor<2x1x3xf32>
  %0 = graph.reduce sum %x dims [1, 2] : tensor<2x1x3xf32> -> tensor<2xf32>
  %1 = graph.reduce max %x dims [0, 1] : tensor<2x1x3xf32> -> tensor<3xf32>
  %2 = graph.reduce min %x dims [0, 1] : tensor<2x1x3xf32> -> tensor<3xf32>
  %3 = graph.reduce prod %x dims [0, 1, 2] : tensor<2x1x3xf32> -> tensor<f32>
  %4 = graph.reduce sum %x dims [1] : tensor<2x1x3xf32> -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3xf32>
}

// CHECK: // integers.0: tensor<i64> [2]
// CHECK: // integers.1: tensor<i64> [-3]
func.func @integers() -> (tensor<i64>, tensor<i64>) {
  %x = graph.constant dense<[2, -3]> : tensor<2xi64>
  %0 = graph.reduce max %x dims [0] : tensor<2xi64> -> tensor<i64>
  %1 = graph.reduce min %x dims [0] : tensor<2xi64> -> tensor<i64>
  return %0, %1 : tensor<i64>, tensor<i64>
}

// [1 2; 3 4] with [5 6; 7 8]: product, product with the transpose, outer product with a row,
// diagonal (a shared letter that stays), inner product.
// CHECK: // contract.0: tensor<2x2xf32> [19, 22, 43, 50]
// CHECK: // contract.1: tensor<2x2xf32> [17, 23, 39, 53]
// CHECK: // contract.2: tensor<2x2x2xf32> [5, 10, 6, 12, 15, 20, 18, 24]
// CHECK: // contract.3: tensor<2xf32> [17, 53]
// CHECK: // contract.4: tensor<f32> [70]
func.func @contract() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2x2xf32>, tensor<2xf32>, tensor<f32>) {
  %a = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = graph.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %r = graph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0 = graph.contract "ij,jk->ik" %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.contract "ij,kj->ik" %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = graph.contract "ij,k->ikj" %a, %r : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2x2xf32>
  %3 = graph.contract "ij,ij->i" %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  %4 = graph.contract "ij,ij->" %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2x2xf32>, tensor<2xf32>, tensor<f32>
}

// A batch of products whose inner size is 1.
// CHECK: // batched.0: tensor<2x1x2xf32> [3, 4, 10, 12]
func.func @batched() -> tensor<2x1x2xf32> {
  %a = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %b = graph.constant dense<[[[3.0, 4.0]], [[5.0, 6.0]]]> : tensor<2x1x2xf32>
  %y = graph.contract "bij,bjk->bik" %a, %b : (tensor<2x1x1xf32>, tensor<2x1x2xf32>) -> tensor<2x1x2xf32>
  return %y : tensor<2x1x2xf32>
}

// CHECK: // sum_squares.0: tensor<f64> [30]
func.func @sum_squares() -> tensor<f64> {
  %x = graph.constant dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32>
  %y = graph.sum_squares %x : tensor<2x2xf32> -> tensor<f64>
  return %y : tensor<f64>
}
