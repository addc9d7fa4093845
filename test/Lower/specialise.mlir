// RUN: xlc-opt %s --xlc-emit-kernels | FileCheck %s

// One function per layout: the first and third call share theirs, the second reads a strided view.
func.func private @copy(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {exec.kind = #exec.kernel<loop>} {
  return %x : tensor<4x8xf32>
}
// CHECK: exec.call @copy {{.*}} {exec.code = @copy}
// CHECK: exec.call @copy {{.*}} {exec.code = @copy_1}
// CHECK: exec.call @copy {{.*}} {exec.code = @copy}
func.func @calls(%slot: memref<96xf32>, %out: memref<4x8xf32>) {
  %x = exec.view %slot from 0 : memref<96xf32> -> memref<4x8xf32>
  %part = exec.view %slot from 8 : memref<96xf32> -> memref<4x8xf32, strided<[24, 1]>>
  exec.call @copy ins(%x : memref<4x8xf32>) outs(%out : memref<4x8xf32>) accumulate [0]
  exec.call @copy ins(%part : memref<4x8xf32, strided<[24, 1]>>) outs(%out : memref<4x8xf32>) accumulate [0]
  exec.call @copy ins(%x : memref<4x8xf32>) outs(%out : memref<4x8xf32>) accumulate [0]
  return
}
// CHECK: module @kernels
// CHECK: func.func @copy(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
// CHECK: func.func @copy_1(
// CHECK-NOT: func.func
