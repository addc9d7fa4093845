// Two tensor-parallel ranks gather the sequence, sum partial products, scatter the sum, and turn its split around.
// RUN: xlc-opt %s | xlc-opt | FileCheck %s
// CHECK-LABEL: func @exchange
func.func @exchange(%x: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<i64>) {
  // CHECK: dist.all_gather %{{.*}} dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x4x8xf32> -> tensor<2x8x8xf32>
  %0 = dist.all_gather %x dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x4x8xf32> -> tensor<2x8x8xf32>
  // CHECK: dist.all_reduce sum %{{.*}} over <tp, [2, 1], []> : tensor<2x8x8xf32>
  %1 = dist.all_reduce sum %0 over <tp, [2, 1], []> : tensor<2x8x8xf32>
  // CHECK: dist.reduce_scatter %{{.*}} dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x8x8xf32> -> tensor<2x4x8xf32>
  %2 = dist.reduce_scatter %1 dim 1 outer 1 over <tp, [2, 1], []> : tensor<2x8x8xf32> -> tensor<2x4x8xf32>
  // CHECK: dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  %3 = dist.axis_index over <tp, [2, 1], []> : tensor<i64>
  // CHECK: dist.all_to_all %{{.*}} from 1 outer 1 to 2 outer 1 over <tp, [2, 1], []> : tensor<2x4x8xf32> -> tensor<2x8x4xf32>
  %4 = dist.all_to_all %2 from 1 outer 1 to 2 outer 1 over <tp, [2, 1], []> : tensor<2x4x8xf32> -> tensor<2x8x4xf32>
  return %2, %3 : tensor<2x4x8xf32>, tensor<i64>
}

// Floats of sixteen bits are moved, and summed in f32 and rounded once.
// CHECK-LABEL: func @narrow
func.func @narrow(%x: tensor<4x8xbf16>, %h: tensor<4x8xf16>) -> (tensor<2x8xbf16>, tensor<4x8xf16>) {
  // CHECK: dist.reduce_scatter %{{.*}} dim 0 outer 1 over <tp, [2, 1], []> : tensor<4x8xbf16> -> tensor<2x8xbf16>
  %0 = dist.reduce_scatter %x dim 0 outer 1 over <tp, [2, 1], []> : tensor<4x8xbf16> -> tensor<2x8xbf16>
  // CHECK: dist.all_reduce sum %{{.*}} over <tp, [2, 1], []> : tensor<4x8xf16>
  %1 = dist.all_reduce sum %h over <tp, [2, 1], []> : tensor<4x8xf16>
  return %0, %1 : tensor<2x8xbf16>, tensor<4x8xf16>
}
