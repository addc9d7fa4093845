// Transposes and flattening reshapes around products go; the letters of the contraction say it instead.
// RUN: xlc-opt %s --fold-shapes | FileCheck %s

// CHECK-LABEL: func.func @linear
// CHECK-SAME: %[[X:.*]]: tensor<4x32x64xf32>, %[[W:.*]]: tensor<192x64xf32>, %[[B:.*]]: tensor<192xf32>
func.func @linear(%x: tensor<4x32x64xf32>, %w: tensor<192x64xf32>, %b: tensor<192xf32>) -> tensor<4x32x192xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.contract "deb,cb->dec" %[[X]], %[[W]]
  // CHECK-NEXT: %[[BIAS:.*]] = graph.broadcast %[[B]] : tensor<192xf32> -> tensor<4x32x192xf32>
  // CHECK-NEXT: %[[SUM:.*]] = graph.add %[[Y]], %[[BIAS]]
  // CHECK-NEXT: return %[[SUM]]
  %0 = graph.reshape %x : tensor<4x32x64xf32> -> tensor<128x64xf32>
  %1 = graph.transpose %w [1, 0] : tensor<192x64xf32> -> tensor<64x192xf32>
  %2 = graph.contract "ab,bc->ac" %0, %1 : (tensor<128x64xf32>, tensor<64x192xf32>) -> tensor<128x192xf32>
  %3 = graph.broadcast %b : tensor<192xf32> -> tensor<128x192xf32>
  %4 = graph.add %2, %3 : tensor<128x192xf32>
  %5 = graph.reshape %4 : tensor<128x192xf32> -> tensor<4x32x192xf32>
  return %5 : tensor<4x32x192xf32>
}

// Batch and sequence of size 1 are dimensions like any other.
// CHECK-LABEL: func.func @size_one
func.func @size_one(%x: tensor<1x1x8xf32>, %w: tensor<8x4xf32>) -> tensor<1x1x4xf32> {
  // CHECK-NEXT: graph.contract "deb,bc->dec" {{.*}} -> tensor<1x1x4xf32>
  // CHECK-NEXT: return
  %0 = graph.reshape %x : tensor<1x1x8xf32> -> tensor<1x8xf32>
  %1 = graph.contract "ab,bc->ac" %0, %w : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
  %2 = graph.reshape %1 : tensor<1x4xf32> -> tensor<1x1x4xf32>
  return %2 : tensor<1x1x4xf32>
}

// A transpose of the result is another order of its letters.
// CHECK-LABEL: func.func @transposed_result
func.func @transposed_result(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: graph.contract "ab,bc->ca"
  // CHECK-NEXT: return
  %0 = graph.contract "ab,bc->ac" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = graph.transpose %0 [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// Keys that are transposed as one long batch are transposed per head.
// CHECK-LABEL: func.func @flattened_transpose
func.func @flattened_transpose(%k: tensor<2x4x8x16xf32>) -> tensor<2x4x16x8xf32> {
  // CHECK-NEXT: graph.transpose %{{.*}} [0, 1, 3, 2]
  // CHECK-NEXT: return
  %0 = graph.reshape %k : tensor<2x4x8x16xf32> -> tensor<8x8x16xf32>
  %1 = graph.transpose %0 [0, 2, 1] : tensor<8x8x16xf32> -> tensor<8x16x8xf32>
  %2 = graph.reshape %1 : tensor<8x16x8xf32> -> tensor<2x4x16x8xf32>
  return %2 : tensor<2x4x16x8xf32>
}

// The loss takes rows in any shape.
// CHECK-LABEL: func.func @loss
// CHECK-SAME: %[[X:.*]]: tensor<2x8x5xf32>, %[[L:.*]]: tensor<2x8xi64>
func.func @loss(%x: tensor<2x8x5xf32>, %l: tensor<2x8xi64>) -> (tensor<f32>, tensor<i64>) {
  // CHECK-NEXT: graph.cross_entropy %[[X]], %[[L]]
  %0 = graph.reshape %x : tensor<2x8x5xf32> -> tensor<16x5xf32>
  %1 = graph.reshape %l : tensor<2x8xi64> -> tensor<16xi64>
  %s, %c, %lse = graph.cross_entropy %0, %1 ignore -100 : (tensor<16x5xf32>, tensor<16xi64>) -> (tensor<f32>, tensor<i64>, tensor<16xf32>)
  return %s, %c : tensor<f32>, tensor<i64>
}

// One type for operands and result does not make an op elementwise: the reshape stays before it.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<2x3x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  // CHECK: graph.reshape
  // CHECK: graph.softmax {{.*}} : tensor<6x4xf32>
  // CHECK: dist.all_reduce {{.*}} : tensor<6x4xf32>
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = graph.softmax %0 : tensor<6x4xf32>
  %2 = dist.all_reduce sum %0 over <tp, [2, 1], []> : tensor<6x4xf32>
  return %1, %2 : tensor<6x4xf32>, tensor<6x4xf32>
}

// A bias along what was flattened stays where it is.
// CHECK-LABEL: func.func @row_bias
func.func @row_bias(%x: tensor<2x3x4xf32>, %b: tensor<6x1xf32>) -> tensor<6x4xf32> {
  // CHECK: graph.reshape
  // CHECK: graph.add {{.*}} : tensor<6x4xf32>
  %0 = graph.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %1 = graph.broadcast %b : tensor<6x1xf32> -> tensor<6x4xf32>
  %2 = graph.add %0, %1 : tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// (1 - flags) * -3.4e38, repeated for each query before: computed per key, then repeated.
// CHECK-LABEL: func.func @repeated
// CHECK-SAME: %[[FLAGS:.*]]: tensor<2x1x1x3xf32>
func.func @repeated(%flags: tensor<2x1x1x3xf32>) -> tensor<2x1x3x3xf32> {
  // CHECK: %[[D:.*]] = graph.sub %{{.*}}, %[[FLAGS]] : tensor<2x1x1x3xf32>
  // CHECK: %[[C:.*]] = graph.compare ne %[[D]], %{{.*}} : tensor<2x1x1x3xf32> -> tensor<2x1x1x3xi1>
  // CHECK: %[[S:.*]] = graph.select %[[C]], %{{.*}}, %[[D]] : tensor<2x1x1x3xi1>, tensor<2x1x1x3xf32>
  // CHECK: graph.broadcast %[[S]]
  %one = graph.constant dense<1.0> : tensor<2x1x3x3xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %none = graph.broadcast %zero : tensor<f32> -> tensor<2x1x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x1x3x3xf32>
  %all = graph.broadcast %flags : tensor<2x1x1x3xf32> -> tensor<2x1x3x3xf32>
  %d = graph.sub %one, %all : tensor<2x1x3x3xf32>
  %c = graph.compare ne %d, %none : tensor<2x1x3x3xf32> -> tensor<2x1x3x3xi1>
  %s = graph.select %c, %low, %d : tensor<2x1x3x3xi1>, tensor<2x1x3x3xf32>
  return %s : tensor<2x1x3x3xf32>
}
