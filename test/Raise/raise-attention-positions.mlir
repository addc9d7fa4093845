// A mask too large to be written down is an expression of positions; attention is recognised all the same.
// RUN: xlc-opt %s --raise-attention --cse | FileCheck %s

// key <= query and true, then 0 or a large negative number.
// CHECK-LABEL: func.func @compared
func.func @compared(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK: graph.attention causal
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %keys = graph.constant dense<[0, 1, 2]> : tensor<3xi64>
  %queries = graph.constant dense<[[0], [1], [2]]> : tensor<3x1xi64>
  %kb = graph.broadcast %keys : tensor<3xi64> -> tensor<1x1x3x3xi64>
  %qb = graph.broadcast %queries : tensor<3x1xi64> -> tensor<1x1x3x3xi64>
  %past = graph.compare le %kb, %qb : tensor<1x1x3x3xi64> -> tensor<1x1x3x3xi1>
  %yes = graph.constant dense<true> : tensor<1x1x3x3xi1>
  %m = graph.and %yes, %past : tensor<1x1x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<1x1x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<1x1x3x3xf32>
  %a = graph.select %m, %zero, %low : tensor<1x1x3x3xi1>, tensor<1x1x3x3xf32>
  %ab = graph.broadcast %a : tensor<1x1x3x3xf32> -> tensor<1x2x3x3xf32>
  %sm = graph.add %s, %ab : tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// The future by itself, as a number times a mask of ones.
// CHECK-LABEL: func.func @future
func.func @future(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK: graph.attention causal
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %queries = graph.iota dim 0 : tensor<3x3xi64>
  %keys = graph.iota dim 1 : tensor<3x3xi64>
  %late = graph.compare gt %keys, %queries : tensor<3x3xi64> -> tensor<3x3xi1>
  %ones = graph.cast %late : tensor<3x3xi1> -> tensor<3x3xf32>
  %low = graph.constant dense<-1.0e9> : tensor<3x3xf32>
  %a = graph.mul %ones, %low : tensor<3x3xf32>
  %ab = graph.broadcast %a : tensor<3x3xf32> -> tensor<1x2x3x3xf32>
  %sm = graph.add %s, %ab : tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// One position more than the past is another mask.
// CHECK-LABEL: func.func @one_ahead
func.func @one_ahead(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK-NOT: graph.attention causal
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %queries = graph.constant dense<[[1], [2], [3]]> : tensor<3x1xi64>
  %qb = graph.broadcast %queries : tensor<3x1xi64> -> tensor<1x2x3x3xi64>
  %keys = graph.iota dim 3 : tensor<1x2x3x3xi64>
  %past = graph.compare le %keys, %qb : tensor<1x2x3x3xi64> -> tensor<1x2x3x3xi1>
  %low = graph.constant dense<-1.0e9> : tensor<1x2x3x3xf32>
  %sm = graph.select %past, %s, %low : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}
