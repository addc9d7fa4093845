// RUN: xlc-opt %s --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null | FileCheck %s

// A row of up to 1024 elements has a warp. 768 floats are six vectors per thread: read once, kept in registers, combined by
// five exchanges, written. There is no loop, no shared memory, and no condition but that the row exists.
// CHECK-NOT: .shared
// CHECK-LABEL: .entry warp(
// CHECK: .reqntid 128
// CHECK-NOT: .local
// CHECK-COUNT-6: ld.global.v4
// CHECK-NOT: ld.global
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK-NOT: shfl
// CHECK-NOT: bar.sync
// CHECK-COUNT-6: st.global.v4
// CHECK-NOT: st.global
// CHECK: ret
func.func private @warp(%x: tensor<6x768xf32>) -> tensor<6x768xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %s = graph.reduce sum %x dims [1] : tensor<6x768xf32> -> tensor<6xf32>
  %r = graph.reshape %s : tensor<6xf32> -> tensor<6x1xf32>
  %b = graph.broadcast %r : tensor<6x1xf32> -> tensor<6x768xf32>
  %y = graph.sub %x, %b : tensor<6x768xf32>
  return %y : tensor<6x768xf32>
}

// A longer one has a block of warps, which meet in shared memory; the result is stored by one thread.
// CHECK-LABEL: .entry block(
// CHECK: .reqntid 128
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK: st.shared
// CHECK: bar.sync
// CHECK: ld.shared
// CHECK-COUNT-2: shfl.sync.bfly
// CHECK-NOT: shfl
// CHECK: @%p{{[0-9]+}} bra
// CHECK: st.global
// CHECK: ret
func.func private @block(%x: tensor<6x3072xf32>) -> tensor<6xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %s = graph.reduce max %x dims [1] : tensor<6x3072xf32> -> tensor<6xf32>
  return %s : tensor<6xf32>
}

// 100 floats are 25 vectors: threads without one repeat the last, which counts for nothing.
// CHECK-LABEL: .entry rest(
// CHECK: min.u
// CHECK: ld.global.v4
// CHECK: selp
// CHECK: shfl
// CHECK: ret
func.func private @rest(%x: tensor<8x100xf32>) -> tensor<8xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %s = graph.reduce sum %x dims [1] : tensor<8x100xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// What is too long for registers is read in a loop.
// CHECK-LABEL: .entry long(
// CHECK: .reqntid 256
// CHECK: ld.global.v4
// CHECK: bra
// CHECK: shfl
// CHECK: ret
func.func private @long(%x: tensor<2x65536xf32>) -> tensor<2xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %s = graph.reduce sum %x dims [1] : tensor<2x65536xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}

func.func @calls(%a: memref<6x768xf32>, %b: memref<6x3072xf32>, %c: memref<6xf32>, %d: memref<8x100xf32>, %e: memref<8xf32>,
                 %f: memref<2x65536xf32>, %g: memref<2xf32>) {
  exec.call @warp ins(%a : memref<6x768xf32>) outs(%a : memref<6x768xf32>) accumulate [0]
  exec.call @block ins(%b : memref<6x3072xf32>) outs(%c : memref<6xf32>) accumulate [0]
  exec.call @rest ins(%d : memref<8x100xf32>) outs(%e : memref<8xf32>) accumulate [0]
  exec.call @long ins(%f : memref<2x65536xf32>) outs(%g : memref<2xf32>) accumulate [0]
  return
}
