// A loop writes over an operand that nobody reads afterwards, if it reads of it the element that it writes and no other.
// RUN: xlc-opt %s --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement | FileCheck %s

// CHECK-LABEL: func.func private @negated(
// CHECK: exec.call @{{.*}} outs(%[[X:.*]] : memref<4x4xf32>) {{.*}}accumulate [0]
// CHECK: exec.call @{{.*}} ins(%[[X]] : memref<4x4xf32>) outs(%[[X]] : memref<4x4xf32>) accumulate [0]

// Elements from elsewhere.
// CHECK-LABEL: func.func private @picked(
// CHECK: exec.call @{{.*}} outs(%[[X:.*]] : memref<4x4xf32>) {{.*}}accumulate [0]
// CHECK: exec.call @{{.*}} ins(%[[X]], %arg1 : {{.*}}) outs(%[[Y:[^ ]*]] :
// CHECK-NOT: outs(%[[X]]
// CHECK: return

// The same element, and one from elsewhere through a view.
// CHECK-LABEL: func.func private @symmetric(
// CHECK: exec.call @{{.*}} outs(%[[X:.*]] : memref<4x4xf32>) {{.*}}accumulate [0]
// CHECK: %[[T:.*]] = exec.view %[[X]]
// CHECK: exec.call @{{.*}} ins(%[[X]], %[[T]] : {{.*}}) outs(%[[Y:[^ ]*]] :
// CHECK-NOT: outs(%[[X]]
// CHECK: return
module attributes {graph.groups = []} {
sched.timeline @train stage 0 micro_batches 1 {
  %x, %i = sched.load micro 0 ["x", "i"] : tensor<4x4xf32>, tensor<4x4xi64>
  %a = sched.run @negated #graph.unit<"a", 0> micro 0 (%x) params [] stores [] accumulate [] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = sched.run @picked #graph.unit<"b", 0> micro 0 (%x, %i) params [] stores [] accumulate [] : (tensor<4x4xf32>, tensor<4x4xi64>) -> tensor<4x4xf32>
  %c = sched.run @symmetric #graph.unit<"c", 0> micro 0 (%x) params [] stores [] accumulate [] : (tensor<4x4xf32>) -> tensor<4x4xf32>
}
func.func private @negated(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.neg %0 : tensor<4x4xf32>
  %2 = graph.contract "ab,bc->ac" %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func private @picked(%x: tensor<4x4xf32>, %i: tensor<4x4xi64>) -> tensor<4x4xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.gather_elements %0, %i dim 1 : (tensor<4x4xf32>, tensor<4x4xi64>) -> tensor<4x4xf32>
  %2 = graph.contract "ab,bc->ac" %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func private @symmetric(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = graph.transpose %0 [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = graph.add %0, %t : tensor<4x4xf32>
  %2 = graph.contract "ab,bc->ac" %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
}
