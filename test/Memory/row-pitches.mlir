// On GPUs rows of floats that are long, and not a multiple of a line of the cache, have gaps behind them: those of values that
// products and generated kernels alone make and read, in whichever function.
// RUN: xlc-opt --xlc-target=cuda:sm_90 %s --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement | FileCheck %s
// RUN: xlc-opt %s --xlc-form-kernels --xlc-lower-to-exec | FileCheck %s --check-prefix=CPU
// CPU-NOT: 1056
// CPU-NOT: strided

// Vectors of 16 bytes, and the last of 1029 by itself.
// RUN: xlc-opt --xlc-target=cuda:sm_90 %s --xlc-form-kernels --xlc-lower-to-exec --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry kernel_1(
// PTX: ld.global.b32
// PTX: ld.global.v4
// PTX: ret

// CHECK: exec.buffer {{[0-9]+}} {{[a-z]+}} "a[0] F/" size 33792
// CHECK-LABEL: func.func private @head(
// CHECK-SAME: %{{[^ ]*}}: memref<8x64xf32>{{.*}}, %[[W:[^ ]*]]: memref<64x1029xf32>{{.*}}, %[[LOGITS:[^ ]*]]: memref<8x1056xf32>
// CHECK: %[[MADE:.*]] = exec.view %[[LOGITS]] from 0 : memref<8x1056xf32> -> memref<8x1029xf32, strided<[1056, 1]>>
// CHECK: exec.call @{{.*}} outs(%[[MADE]]
// CHECK-LABEL: func.func private @head_backward(
// CHECK-SAME: memref<8x1056xf32>
// CHECK: exec.call @{{.*}} ins(%{{.*}} : memref<8x1029xf32, strided<[1056, 1]>>

// What another stage gets is sent as it is.
// CHECK-LABEL: func.func private @sent(
// CHECK-SAME: memref<8x1029xf32>{{.*}}memref<8x1029xf32>
// CHECK-NOT: strided
// CHECK: return

// Flat, rows cannot have gaps, and neither can those of what is written over them.
// CHECK-LABEL: func.func private @flat(
// CHECK-NOT: strided
// CHECK: exec.view {{.*}} : memref<8x1029xf32> -> memref<8232xf32>
// CHECK-NOT: strided
// CHECK: return
module attributes {graph.groups = []} {
sched.timeline @train stage 0 micro_batches 1 {
  %x, %w, %v = sched.load micro 0 ["x", "w", "v"] : tensor<8x64xf32>, tensor<64x1029xf32>, tensor<8x1029xf32>
  %a = sched.run @head #graph.unit<"a", 0> micro 0 (%x, %w) params [] stores [] accumulate [] : (tensor<8x64xf32>, tensor<64x1029xf32>) -> tensor<8x1029xf32>
  %b = sched.run @head_backward #graph.unit<"a", 0> micro 0 (%a, %w) params [] stores [] accumulate [] : (tensor<8x1029xf32>, tensor<64x1029xf32>) -> tensor<8x64xf32>
  %c = sched.run @sent #graph.unit<"b", 0> micro 0 (%v) params [] stores [] accumulate [] : (tensor<8x1029xf32>) -> tensor<8x1029xf32>
  sched.send %c message 0 to 1 micro 0 : tensor<8x1029xf32>
  %d = sched.run @flat #graph.unit<"c", 0> micro 0 (%x, %w) params [] stores [] accumulate [] : (tensor<8x64xf32>, tensor<64x1029xf32>) -> tensor<8232xf32>
}
sched.timeline @other stage 1 micro_batches 1 {
  %c = sched.receive message 0 from 0 micro 0 : tensor<8x1029xf32>
}
func.func private @head(%x: tensor<8x64xf32>, %w: tensor<64x1029xf32>) -> tensor<8x1029xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<8x64xf32>, tensor<64x1029xf32>) -> tensor<8x1029xf32>
  %1 = graph.exp %0 : tensor<8x1029xf32>
  return %1 : tensor<8x1029xf32>
}
func.func private @head_backward(%y: tensor<8x1029xf32>, %w: tensor<64x1029xf32>) -> tensor<8x64xf32> {
  %0 = graph.contract "ac,bc->ab" %y, %w : (tensor<8x1029xf32>, tensor<64x1029xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
func.func private @sent(%v: tensor<8x1029xf32>) -> tensor<8x1029xf32> {
  %0 = graph.exp %v : tensor<8x1029xf32>
  return %0 : tensor<8x1029xf32>
}
func.func private @flat(%x: tensor<8x64xf32>, %w: tensor<64x1029xf32>) -> tensor<8232xf32> {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<8x64xf32>, tensor<64x1029xf32>) -> tensor<8x1029xf32>
  %1 = graph.exp %0 : tensor<8x1029xf32>
  %2 = graph.reshape %1 : tensor<8x1029xf32> -> tensor<8232xf32>
  %3 = graph.neg %2 : tensor<8232xf32>
  return %3 : tensor<8232xf32>
}
}
