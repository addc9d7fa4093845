// What Lower leaves passes its gate: generated kernels have code, a library's has none.
// RUN: xlc-opt %s --xlc-emit-kernels --xlc-verify-lowered | FileCheck %s
// RUN: xlc-opt %s --xlc-emit-gpu-kernels --xlc-verify-lowered | FileCheck %s
// CHECK: exec.call @double {{.*}} {exec.code = @double}
// CHECK: exec.call @product
// CHECK-NOT: exec.code
// CHECK: module @kernels

func.func private @double(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.add %x, %x : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func private @product(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "ab,bc->ac" %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func @calls(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  exec.call @double ins(%x : memref<4x4xf32>) outs(%x : memref<4x4xf32>) accumulate [0]
  exec.call @product ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) accumulate [0]
  return
}
