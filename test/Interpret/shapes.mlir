// Ops that move elements: sizes of 1, negative strides and middle dimensions included.
// RUN: xlc-opt --xlc-interpret %s | FileCheck %s
// RUN: xlc-opt --xlc-interpret=arithmetic=field %s | FileCheck %s

// CHECK: // iota.0: tensor<2x3xi64> [0, 1, 2, 0, 1, 2]
// CHECK: // iota.1: tensor<2x3xf32> [0, 0, 0, 1, 1, 1]
func.func @iota() -> (tensor<2x3xi64>, tensor<2x3xf32>) {
  %0 = graph.iota dim 1 : tensor<2x3xi64>
  %1 = graph.iota dim 0 : tensor<2x3xf32>
  return %0, %1 : tensor<2x3xi64>, tensor<2x3xf32>
}

// CHECK: // broadcast.0: tensor<2x2x2xf32> [1, 1, 2, 2, 1, 1, 2, 2]
// CHECK: // broadcast.1: tensor<3xi64> [7, 7, 7]
// CHECK: // broadcast.2: tensor<1x2x1xf32> [1, 2]
func.func @broadcast() -> (tensor<2x2x2xf32>, tensor<3xi64>, tensor<1x2x1xf32>) {
  %x = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %s = graph.constant dense<7> : tensor<i64>
  %0 = graph.broadcast %x : tensor<2x1xf32> -> tensor<2x2x2xf32>
  %1 = graph.broadcast %s : tensor<i64> -> tensor<3xi64>
  %2 = graph.broadcast %x : tensor<2x1xf32> -> tensor<1x2x1xf32>
  return %0, %1, %2 : tensor<2x2x2xf32>, tensor<3xi64>, tensor<1x2x1xf32>
}

// CHECK: // moves.0: tensor<3x2xf32> [1, 2, 3, 4, 5, 6]
// CHECK: // moves.1: tensor<3x2xf32> [1, 4, 2, 5, 3, 6]
// CHECK: // moves.2: tensor<1x2xf32> [6, 4]
// CHECK: // moves.3: tensor<2x2xf32> [1, 3, 4, 6]
func.func @moves() -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>) {
  %x = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = graph.reshape %x : tensor<2x3xf32> -> tensor<3x2xf32>
  %1 = graph.transpose %x [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %2 = graph.slice %x from [1, 2] by [1, -2] : tensor<2x3xf32> -> tensor<1x2xf32>
  %3 = graph.slice %x from [0, 0] by [1, 2] : tensor<2x3xf32> -> tensor<2x2xf32>
  return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>
}

// Transposing with a permutation that is not its own inverse: y[i,j,k] = x[k,i,j].
// CHECK: // rotate.0: tensor<2x1x3xi64> [0, 2, 4, 1, 3, 5]
func.func @rotate() -> tensor<2x1x3xi64> {
  %x = graph.constant dense<[[[0], [1]], [[2], [3]], [[4], [5]]]> : tensor<3x2x1xi64>
  %y = graph.transpose %x [1, 2, 0] : tensor<3x2x1xi64> -> tensor<2x1x3xi64>
  return %y : tensor<2x1x3xi64>
}

// CHECK: // joins.0: tensor<2x3xf32> [1, 5, 6, 2, 7, 8]
// CHECK: // joins.1: tensor<3x1xf32> [1, 2, 9]
// CHECK: // joins.2: tensor<3x3xf32> [0, 0, 0, 0, 1, 0, 0, 2, 0]
func.func @joins() -> (tensor<2x3xf32>, tensor<3x1xf32>, tensor<3x3xf32>) {
  %a = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = graph.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %c = graph.constant dense<[[9.0]]> : tensor<1x1xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.concat %a, %b dim 1 : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %1 = graph.concat %a, %c dim 0 : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
  %2 = graph.pad %a, %zero low [1, 1] high [0, 1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<3x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<3x1xf32>, tensor<3x3xf32>
}

// CHECK: // lookups.0: tensor<2x2xf32> [5, 6, 1, 2]
// CHECK: // lookups.1: tensor<3x1x2xf32> [2, 2, 4, 4, 6, 6]
// CHECK: // lookups.2: tensor<3x2xf32> [0, 0, 5, 6, 1, 2]
// CHECK: // lookups.3: tensor<2xf32> [0, 6]
func.func @lookups() -> (tensor<2x2xf32>, tensor<3x1x2xf32>, tensor<3x2xf32>, tensor<2xf32>) {
  %t = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %i = graph.constant dense<[2, 0]> : tensor<2xi64>
  %one = graph.constant dense<[[1, 1]]> : tensor<1x2xi64>
  %0 = graph.gather %t, %i dim 0 : (tensor<3x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %1 = graph.gather %t, %one dim 1 : (tensor<3x2xf32>, tensor<1x2xi64>) -> tensor<3x1x2xf32>
  %k = graph.constant dense<[2, 1]> : tensor<2xi64>
  %u = graph.constant dense<[[1.0, 2.0], [5.0, 6.0]]> : tensor<2x2xf32>
  %2 = graph.scatter_add %k, %u dim 0 : (tensor<2xi64>, tensor<2x2xf32>) -> tensor<3x2xf32>
  // Equal indices add up.
  %v = graph.constant dense<[[2.0, 4.0]]> : tensor<1x2xf32>
  %3 = graph.scatter_add %one, %v dim 0 : (tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<3x1x2xf32>, tensor<3x2xf32>, tensor<2xf32>
}

// Every row has its own indices; all rows have the same. Elements at one place add up.
// CHECK: // elements.0: tensor<2x2xf32> [3, 1, 4, 4]
// CHECK: // elements.1: tensor<2x4xf32> [3, 1, 1, 2, 6, 4, 4, 5]
// CHECK: // elements.2: tensor<2x3xf32> [1, 0, 2, 7, 0, 0]
// CHECK: // elements.3: tensor<1x3xf32> [4, 2, 6]
func.func @elements() -> (tensor<2x2xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<1x3xf32>) {
  %x = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %own = graph.constant dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>
  %all = graph.constant dense<[2, 0, 0, 1]> : tensor<4xi64>
  %0 = graph.gather_elements %x, %own dim 1 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  %1 = graph.gather_elements %x, %all dim 1 : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  %u = graph.constant dense<[[2.0, 1.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %2 = graph.scatter_elements_add %own, %u dim 1 : (tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %row = graph.constant dense<[[1, 0, 1]]> : tensor<1x3xi64>
  %3 = graph.gather_elements %x, %row dim 0 : (tensor<2x3xf32>, tensor<1x3xi64>) -> tensor<1x3xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<1x3xf32>
}

// Of several updates of one place the last one stands, or the largest of them and what was there. An index of a row is that
// of all its elements.
// CHECK: // scatter.0: tensor<2x3xf32> [1, 2, 8, 10, 5, 6]
// CHECK: // scatter.1: tensor<2x3xf32> [5, 2, 9, 10, 11, 9]
// CHECK: // scatter.2: tensor<2x3xf32> [7, 8, 9, 4, 5, 6]
// CHECK: // scatter.3: tensor<2xi64> [0, 7]
func.func @scatter() -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi64>) {
  %x = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %own = graph.constant dense<[[2, 2], [1, 0]]> : tensor<2x2xi64>
  %u = graph.constant dense<[[9.0, 8.0], [5.0, 10.0]]> : tensor<2x2xf32>
  %0 = graph.scatter_elements last %x, %own, %u dim 1 : (tensor<2x3xf32>, tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %all = graph.constant dense<[2, 0, 1, 0]> : tensor<4xi64>
  %v = graph.constant dense<[[9.0, 5.0, 0.0, 3.0], [9.0, 10.0, 11.0, 7.0]]> : tensor<2x4xf32>
  %1 = graph.scatter_elements max %x, %all, %v dim 1 : (tensor<2x3xf32>, tensor<4xi64>, tensor<2x4xf32>) -> tensor<2x3xf32>
  %rows = graph.constant dense<0> : tensor<2x1xi64>
  %w = graph.constant dense<[[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<2x3xf32>
  %2 = graph.scatter_elements last %x, %rows, %w dim 0 : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = graph.constant dense<[5, 7]> : tensor<2xi64>
  %p = graph.constant dense<0> : tensor<2xi64>
  %m = graph.constant dense<[3, 0]> : tensor<2xi64>
  %3 = graph.scatter_elements min %n, %p, %m dim 0 : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xi64>
}
