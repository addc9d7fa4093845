// Products and attention of sixteen bits are calls of the library on memory of their types: the result is of the operands' type, or
// f32 where it is a gradient, to which micro-batches add.
// RUN: xlc-opt %s --xlc-verify-timeline --xlc-form-kernels -o %t.kernels
// RUN: FileCheck %s --check-prefix=KERNELS < %t.kernels
// RUN: xlc-opt %t.kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement | FileCheck %s

// A bias is no part of such a product, it is added by a kernel.
// KERNELS: func.func private @kernel_0({{.*}}exec.kind = #exec.kernel<loop>
// KERNELS-NEXT: graph.cast {{.*}} -> tensor<4x4xbf16>
// KERNELS: func.func private @kernel_1({{.*}}exec.kind = #exec.kernel<library>
// KERNELS-NEXT: graph.contract {{.*}} -> tensor<4x4xbf16>
// KERNELS: func.func private @kernel_2({{.*}}exec.kind = #exec.kernel<library>
// KERNELS-NEXT: graph.attention {{.*}} -> (tensor<1x4x1x4xbf16>, tensor<1x1x4xf64>)
// KERNELS: func.func private @kernel_3({{.*}}exec.kind = #exec.kernel<library>
// KERNELS-NEXT: graph.contract {{.*}} -> tensor<4x4xf32>
// KERNELS-NEXT: return
// KERNELS: func.func private @kernel_4({{.*}}exec.kind = #exec.kernel<loop>
// KERNELS-NEXT: graph.broadcast
// KERNELS-NEXT: graph.add

// What is bf16 takes half the bytes of the sum in f32.
// CHECK: exec.buffer 4 workspace "layer[0] F/" size 32
// CHECK: exec.buffer 11 workspace "layer[0] F/" size 64
// CHECK-LABEL: func.func private @layer_F(
// CHECK: exec.call @kernel_0 ins(%arg0 : memref<4x4xf32>) outs(%[[A:.*]] : memref<4x4xbf16>) accumulate [0]
// CHECK: exec.call @kernel_1 ins(%[[A]], %{{.*}} : memref<4x4xbf16>, memref<4x4xbf16>) outs(%[[Y:.*]] : memref<4x4xbf16>) workspace({{.*}}) accumulate [0]
// CHECK: exec.call @kernel_2 ins({{.*}}) outs({{.*}} : memref<1x4x1x4xbf16>, memref<1x1x4xf64>) workspace({{.*}}) accumulate [0, 0]
// CHECK: exec.call @kernel_3 ins({{.*}} : memref<4x4xbf16>, memref<4x4xbf16>) outs(%{{.*}} : memref<4x4xf32>)
// CHECK: exec.call @{{.*}} ins(%[[A]], %[[Y]] : memref<4x4xbf16>, memref<4x4xbf16>) outs(%arg5 : memref<4x4xf32>) workspace({{.*}}) accumulate [2]
module attributes {graph.groups = [{kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
sched.bucket @b ["w", "v"] at [0, 64] sizes [16, 4] elements 128 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 2 {
  %x = sched.load micro 0 ["x"] : tensor<4x4xf32>
  sched.run @layer_F #graph.unit<"layer", 0> micro 0 (%x) params ["w", "v"] stores ["@loss_sum", "@loss_count", "w", "v"] accumulate [false, false, false, false] : (tensor<4x4xf32>) -> ()
  %x1 = sched.load micro 1 ["x"] : tensor<4x4xf32>
  sched.run @layer_F #graph.unit<"layer", 0> micro 1 (%x1) params ["w", "v"] stores ["@loss_sum", "@loss_count", "w", "v"] accumulate [true, true, true, true] : (tensor<4x4xf32>) -> ()
  sched.norm @b copies 1 accumulate false
  sched.scalars @scalars
  sched.update @b
}
func.func private @layer_F(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4xf32>) -> (tensor<f32>, tensor<i64>, tensor<4x4xf32>, tensor<4xf32>) {
  %a = graph.cast %x : tensor<4x4xf32> -> tensor<4x4xbf16>
  %b = graph.cast %w : tensor<4x4xf32> -> tensor<4x4xbf16>
  %y = graph.contract "ab,bc->ac" %a, %b : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %q = graph.reshape %y : tensor<4x4xbf16> -> tensor<1x4x1x4xbf16>
  %o, %lse = graph.attention causal %q, %q, %q scale 5.0e-1 : (tensor<1x4x1x4xbf16>, tensor<1x4x1x4xbf16>, tensor<1x4x1x4xbf16>) -> (tensor<1x4x1x4xbf16>, tensor<1x1x4xf64>)
  %p = graph.reshape %o : tensor<1x4x1x4xbf16> -> tensor<4x4xbf16>
  %z = graph.contract "ab,bc->ac" %a, %p : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %0 = graph.broadcast %v : tensor<4xf32> -> tensor<4x4xf32>
  %1 = graph.add %z, %0 : tensor<4x4xf32>
  %2 = graph.reduce sum %1 dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %3 = graph.constant dense<4> : tensor<i64>
  %dw = graph.contract "ba,bc->ac" %a, %y : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %dv = graph.reduce sum %1 dims [0] : tensor<4x4xf32> -> tensor<4xf32>
  return %2, %3, %dw, %dv : tensor<f32>, tensor<i64>, tensor<4x4xf32>, tensor<4xf32>
}
func.func @scalars(%sum: tensor<f32>, %count: tensor<i64>, %squares: tensor<f64>, %applied: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %sum, %sum, %sum, %applied : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
}
