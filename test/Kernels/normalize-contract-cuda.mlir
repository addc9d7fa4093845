// What no view of a batch of matrices is becomes one for cuBLASLt, whose matrices have a stride of 1; in the finite field it is the same.
// RUN: xlc-opt --xlc-target=cuda %s --xlc-normalize-reductions | FileCheck %s
// RUN: xlc-opt %s --xlc-interpret=arithmetic=field | grep '^//' > %t.before
// RUN: xlc-opt --xlc-target=cuda %s --xlc-normalize-reductions --xlc-interpret=arithmetic=field | grep '^//' > %t.after
// RUN: diff %t.before %t.after

// y's last dimension is that of the batch.
// CHECK-LABEL: @batch_last
// CHECK: %[[Y:.*]] = graph.contract "bik,bjk->bij"
// CHECK: graph.transpose %[[Y]] [1, 2, 0] : tensor<5x2x4xf32> -> tensor<2x4x5xf32>
func.func @batch_last(%x: tensor<5x2x3xf32>, %w: tensor<5x3x4xf32>) -> tensor<2x4x5xf32> {
  %y = graph.contract "bik,bkj->ijb" %x, %w : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<2x4x5xf32>
  return %y : tensor<2x4x5xf32>
}
