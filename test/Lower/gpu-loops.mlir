// RUN: xlc-opt %s --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null | FileCheck %s

// PTX that any driver from CUDA 11 on takes, for compute capability 8.0 on.
// CHECK: .version 7.0
// CHECK: .target sm_80
// CHECK: .address_size 64

// A thread has 16 bytes of each operand: four floats. Whole blocks have no condition, and nothing is in local memory.
// CHECK-LABEL: .entry twice(
// CHECK: .reqntid 256
// CHECK-NOT: .local
// CHECK-NOT: setp
// CHECK: ld.global.v4
// CHECK-NOT: ld.global
// CHECK: add.rn.f32
// CHECK: st.global.v4
// CHECK: ret
func.func private @twice(%x: tensor<4x1024xf32>) -> tensor<4x1024xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.add %x, %x : tensor<4x1024xf32>
  return %y : tensor<4x1024xf32>
}

// Eight where the narrowest operand has sixteen bits; of the floats these are two accesses.
// CHECK-LABEL: .entry narrow(
// CHECK: setp
// CHECK: ld.global.v4
// CHECK: st.global.v4
// CHECK: st.global.v4
// CHECK: ret
func.func private @narrow(%x: tensor<8x100xbf16>) -> tensor<8x100xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.cast %x : tensor<8x100xbf16> -> tensor<8x100xf32>
  return %y : tensor<8x100xf32>
}

// A bias has its own shape: threads count all elements, and find row and column of theirs.
// CHECK-LABEL: .entry bias(
// CHECK-NOT: .local
// CHECK: ld.global.v4
// CHECK: ld.global.v4
// CHECK: st.global.v4
// CHECK: ret
func.func private @bias(%x: tensor<3x768xf32>, %b: tensor<768xf32>) -> tensor<3x768xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %w = graph.broadcast %b : tensor<768xf32> -> tensor<3x768xf32>
  %y = graph.add %x, %w : tensor<3x768xf32>
  return %y : tensor<3x768xf32>
}

// The width divides the size, so that no vector is cut; of 63 elements it is one.
// CHECK-LABEL: .entry odd(
// CHECK-NOT: .v2
// CHECK-NOT: .v4
// CHECK: ret
func.func private @odd(%x: tensor<63xf32>) -> tensor<63xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.neg %x : tensor<63xf32>
  return %y : tensor<63xf32>
}

// Neighbours of the result that are not neighbours in memory have a thread each.
// CHECK-LABEL: .entry transpose(
// CHECK-NOT: .v4
// CHECK: ret
func.func private @transpose(%x: tensor<64x16xf32>) -> tensor<16x64xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.transpose %x [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}

// A view that begins eight bytes after a place is read in pieces of eight bytes, and its code is not that of other calls.
// CHECK-LABEL: .entry copy(
// CHECK: ld.global.v4
// CHECK-LABEL: .entry copy_1(
// CHECK-NOT: ld.global.v4
// CHECK: ld.global.v2
// CHECK: st.global.v4
// CHECK: ret
func.func private @copy(%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<loop>} {
  return %x : tensor<64xf32>
}

// One bit of a parameter says whether the call adds; what is there is read only then.
// CHECK-LABEL: .entry sum(
// CHECK: .param .u32
// CHECK: ld.param
// CHECK: ret
func.func private @sum(%x: tensor<1024xf32>) -> tensor<1024xf32> attributes {exec.kind = #exec.kernel<loop>} {
  return %x : tensor<1024xf32>
}

// Sixteen bits are rounded two at a time by the device itself.
// CHECK-LABEL: .entry rounded(
// CHECK-COUNT-4: cvt.rn.bf16x2.f32
// CHECK-NOT: cvt.rn.bf16x2.f32
// CHECK: ret
func.func private @rounded(%x: tensor<8x1024xf32>) -> tensor<8x1024xbf16> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.cast %x : tensor<8x1024xf32> -> tensor<8x1024xbf16>
  return %y : tensor<8x1024xbf16>
}

// An exponential converts nothing and rounds nothing by itself: a GPU does few of these at once.
// CHECK-LABEL: .entry power(
// CHECK-NOT: cvt.{{.*}}f32
// CHECK: shl.b32
// CHECK: ret
func.func private @power(%x: tensor<4x1024xf32>) -> tensor<4x1024xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.exp %x : tensor<4x1024xf32>
  return %y : tensor<4x1024xf32>
}

// Which column is a row's label: once for a thread's elements, and then in 32 bits for each.
// CHECK-LABEL: .entry hot(
// CHECK: sub.s64
// CHECK: setp.lt.u64
// CHECK-COUNT-4: setp.{{eq|ne}}.b32
// CHECK: ret
func.func private @hot(%label: tensor<4xi64>) -> tensor<4x1024xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %one = graph.constant dense<1.0> : tensor<4x1024xf32>
  %zero = graph.constant dense<0.0> : tensor<4x1024xf32>
  %column = graph.iota dim 1 : tensor<4x1024xi64>
  %rows = graph.reshape %label : tensor<4xi64> -> tensor<4x1xi64>
  %labels = graph.broadcast %rows : tensor<4x1xi64> -> tensor<4x1024xi64>
  %is = graph.compare eq %column, %labels : tensor<4x1024xi64> -> tensor<4x1024xi1>
  %y = graph.select %is, %one, %zero : tensor<4x1024xi1>, tensor<4x1024xf32>
  return %y : tensor<4x1024xf32>
}

func.func @calls(%a: memref<4x1024xf32>, %b: memref<8x100xbf16>, %c: memref<8x100xf32>, %d: memref<3x768xf32>, %e: memref<768xf32>,
                 %f: memref<63xf32>, %g: memref<64x16xf32>, %h: memref<16x64xf32>, %i: memref<1024xf32>,
                 %j: memref<8x1024xf32>, %k: memref<8x1024xbf16>, %l: memref<4xi64>) {
  exec.call @twice ins(%a : memref<4x1024xf32>) outs(%a : memref<4x1024xf32>) accumulate [0]
  exec.call @narrow ins(%b : memref<8x100xbf16>) outs(%c : memref<8x100xf32>) accumulate [0]
  exec.call @bias ins(%d, %e : memref<3x768xf32>, memref<768xf32>) outs(%d : memref<3x768xf32>) accumulate [0]
  exec.call @odd ins(%f : memref<63xf32>) outs(%f : memref<63xf32>) accumulate [0]
  exec.call @transpose ins(%g : memref<64x16xf32>) outs(%h : memref<16x64xf32>) accumulate [0]
  %whole = exec.view %i from 0 : memref<1024xf32> -> memref<64xf32>
  %apart = exec.view %i from 130 : memref<1024xf32> -> memref<64xf32>
  exec.call @copy ins(%whole : memref<64xf32>) outs(%whole : memref<64xf32>) accumulate [0]
  exec.call @copy ins(%apart : memref<64xf32>) outs(%whole : memref<64xf32>) accumulate [0]
  exec.call @sum ins(%i : memref<1024xf32>) outs(%i : memref<1024xf32>) accumulate [2]
  exec.call @rounded ins(%j : memref<8x1024xf32>) outs(%k : memref<8x1024xbf16>) accumulate [0]
  exec.call @power ins(%a : memref<4x1024xf32>) outs(%a : memref<4x1024xf32>) accumulate [0]
  exec.call @hot ins(%l : memref<4xi64>) outs(%a : memref<4x1024xf32>) accumulate [0]
  return
}
