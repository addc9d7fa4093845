// What NVIDIA's assembler makes of norms' gradients that sum columns on their way: 3 sums for each of up to 32 elements of a thread. Nothing is
// spilled, but for four bytes on sm_120, where the assembler would rather have more threads at once.
// REQUIRES: ptxas
// RUN: xlc-opt %s --xlc-expand-named-ops --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null > %t.ptx
// RUN: ptxas -v --gpu-name sm_80 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_90 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_100 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_120 %t.ptx -o /dev/null 2>&1 | FileCheck %s

// CHECK: {{[08]}} bytes stack frame, {{[04]}} bytes spill stores, {{[04]}} bytes spill loads
// CHECK-NEXT: Used
// CHECK: {{[08]}} bytes stack frame, {{[04]}} bytes spill stores, {{[04]}} bytes spill loads
// CHECK-NEXT: Used
// CHECK: {{[08]}} bytes stack frame, {{[04]}} bytes spill stores, {{[04]}} bytes spill loads
// CHECK-NEXT: Used
// CHECK: {{[08]}} bytes stack frame, {{[04]}} bytes spill stores, {{[04]}} bytes spill loads
// CHECK-NEXT: Used
// CHECK: {{[08]}} bytes stack frame, {{[04]}} bytes spill stores, {{[04]}} bytes spill loads
// CHECK-NEXT: Used
// CHECK-NOT: Used

func.func private @layer_norm_768_bf16(%a: tensor<1024x768xbf16>, %b: tensor<768xbf16>, %m: tensor<1024xf32>, %r: tensor<1024xf32>, %e: tensor<1024x768xbf16>, %f: tensor<1024x768xbf16>) -> (tensor<1024x768xbf16>, tensor<128x768xf32>, tensor<128x768xf32>, tensor<128x768xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<1024x768xbf16> -> tensor<1024x768xf32>
  %w = graph.cast %b : tensor<768xbf16> -> tensor<768xf32>
  %dy = graph.cast %e : tensor<1024x768xbf16> -> tensor<1024x768xf32>
  %g = graph.cast %f : tensor<1024x768xbf16> -> tensor<1024x768xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<1024x768xf32>, tensor<768xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024x768xf32>) -> tensor<1024x768xf32>
  %rstd1 = graph.reshape %r : tensor<1024xf32> -> tensor<1024x1xf32>
  %rstd = graph.broadcast %rstd1 : tensor<1024x1xf32> -> tensor<1024x768xf32>
  %mean1 = graph.reshape %m : tensor<1024xf32> -> tensor<1024x1xf32>
  %mean = graph.broadcast %mean1 : tensor<1024x1xf32> -> tensor<1024x768xf32>
  %d = graph.sub %x, %mean : tensor<1024x768xf32>
  %n = graph.mul %d, %rstd : tensor<1024x768xf32>
  %p = graph.mul %dy, %n : tensor<1024x768xf32>
  %s = graph.add %dx, %g : tensor<1024x768xf32>
  %z = graph.cast %s : tensor<1024x768xf32> -> tensor<1024x768xbf16>
  %y = graph.cast %z : tensor<1024x768xbf16> -> tensor<1024x768xf32>
  %c0 = graph.reshape %p : tensor<1024x768xf32> -> tensor<128x8x768xf32>
  %s0 = graph.reduce sum %c0 dims [1] : tensor<128x8x768xf32> -> tensor<128x768xf32>
  %c1 = graph.reshape %dy : tensor<1024x768xf32> -> tensor<128x8x768xf32>
  %s1 = graph.reduce sum %c1 dims [1] : tensor<128x8x768xf32> -> tensor<128x768xf32>
  %c2 = graph.reshape %y : tensor<1024x768xf32> -> tensor<128x8x768xf32>
  %s2 = graph.reduce sum %c2 dims [1] : tensor<128x8x768xf32> -> tensor<128x768xf32>
  return %z, %s0, %s1, %s2 : tensor<1024x768xbf16>, tensor<128x768xf32>, tensor<128x768xf32>, tensor<128x768xf32>
}
func.func @call_layer_norm_768_bf16(%a: memref<1024x768xbf16>, %b: memref<768xbf16>, %m: memref<1024xf32>, %r: memref<1024xf32>, %e: memref<1024x768xbf16>, %f: memref<1024x768xbf16>, %o0: memref<1024x768xbf16>, %o1: memref<128x768xf32>, %o2: memref<128x768xf32>, %o3: memref<128x768xf32>) {
  exec.call @layer_norm_768_bf16 ins(%a, %b, %m, %r, %e, %f : memref<1024x768xbf16>, memref<768xbf16>, memref<1024xf32>, memref<1024xf32>, memref<1024x768xbf16>, memref<1024x768xbf16>) outs(%o0, %o1, %o2, %o3 : memref<1024x768xbf16>, memref<128x768xf32>, memref<128x768xf32>, memref<128x768xf32>) accumulate [0, 0, 0, 0]
  return
}
func.func private @layer_norm_1600_bf16(%a: tensor<1024x1600xbf16>, %b: tensor<1600xbf16>, %m: tensor<1024xf32>, %r: tensor<1024xf32>, %e: tensor<1024x1600xbf16>, %f: tensor<1024x1600xbf16>) -> (tensor<1024x1600xbf16>, tensor<128x1600xf32>, tensor<128x1600xf32>, tensor<128x1600xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<1024x1600xbf16> -> tensor<1024x1600xf32>
  %w = graph.cast %b : tensor<1600xbf16> -> tensor<1600xf32>
  %dy = graph.cast %e : tensor<1024x1600xbf16> -> tensor<1024x1600xf32>
  %g = graph.cast %f : tensor<1024x1600xbf16> -> tensor<1024x1600xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<1024x1600xf32>, tensor<1600xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024x1600xf32>) -> tensor<1024x1600xf32>
  %rstd1 = graph.reshape %r : tensor<1024xf32> -> tensor<1024x1xf32>
  %rstd = graph.broadcast %rstd1 : tensor<1024x1xf32> -> tensor<1024x1600xf32>
  %mean1 = graph.reshape %m : tensor<1024xf32> -> tensor<1024x1xf32>
  %mean = graph.broadcast %mean1 : tensor<1024x1xf32> -> tensor<1024x1600xf32>
  %d = graph.sub %x, %mean : tensor<1024x1600xf32>
  %n = graph.mul %d, %rstd : tensor<1024x1600xf32>
  %p = graph.mul %dy, %n : tensor<1024x1600xf32>
  %s = graph.add %dx, %g : tensor<1024x1600xf32>
  %z = graph.cast %s : tensor<1024x1600xf32> -> tensor<1024x1600xbf16>
  %y = graph.cast %z : tensor<1024x1600xbf16> -> tensor<1024x1600xf32>
  %c0 = graph.reshape %p : tensor<1024x1600xf32> -> tensor<128x8x1600xf32>
  %s0 = graph.reduce sum %c0 dims [1] : tensor<128x8x1600xf32> -> tensor<128x1600xf32>
  %c1 = graph.reshape %dy : tensor<1024x1600xf32> -> tensor<128x8x1600xf32>
  %s1 = graph.reduce sum %c1 dims [1] : tensor<128x8x1600xf32> -> tensor<128x1600xf32>
  %c2 = graph.reshape %y : tensor<1024x1600xf32> -> tensor<128x8x1600xf32>
  %s2 = graph.reduce sum %c2 dims [1] : tensor<128x8x1600xf32> -> tensor<128x1600xf32>
  return %z, %s0, %s1, %s2 : tensor<1024x1600xbf16>, tensor<128x1600xf32>, tensor<128x1600xf32>, tensor<128x1600xf32>
}
func.func @call_layer_norm_1600_bf16(%a: memref<1024x1600xbf16>, %b: memref<1600xbf16>, %m: memref<1024xf32>, %r: memref<1024xf32>, %e: memref<1024x1600xbf16>, %f: memref<1024x1600xbf16>, %o0: memref<1024x1600xbf16>, %o1: memref<128x1600xf32>, %o2: memref<128x1600xf32>, %o3: memref<128x1600xf32>) {
  exec.call @layer_norm_1600_bf16 ins(%a, %b, %m, %r, %e, %f : memref<1024x1600xbf16>, memref<1600xbf16>, memref<1024xf32>, memref<1024xf32>, memref<1024x1600xbf16>, memref<1024x1600xbf16>) outs(%o0, %o1, %o2, %o3 : memref<1024x1600xbf16>, memref<128x1600xf32>, memref<128x1600xf32>, memref<128x1600xf32>) accumulate [0, 0, 0, 0]
  return
}
func.func private @layer_norm_4096_bf16(%a: tensor<1024x4096xbf16>, %b: tensor<4096xbf16>, %m: tensor<1024xf32>, %r: tensor<1024xf32>, %e: tensor<1024x4096xbf16>, %f: tensor<1024x4096xbf16>) -> (tensor<1024x4096xbf16>, tensor<128x4096xf32>, tensor<128x4096xf32>, tensor<128x4096xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %w = graph.cast %b : tensor<4096xbf16> -> tensor<4096xf32>
  %dy = graph.cast %e : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %g = graph.cast %f : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<1024x4096xf32>, tensor<4096xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %rstd1 = graph.reshape %r : tensor<1024xf32> -> tensor<1024x1xf32>
  %rstd = graph.broadcast %rstd1 : tensor<1024x1xf32> -> tensor<1024x4096xf32>
  %mean1 = graph.reshape %m : tensor<1024xf32> -> tensor<1024x1xf32>
  %mean = graph.broadcast %mean1 : tensor<1024x1xf32> -> tensor<1024x4096xf32>
  %d = graph.sub %x, %mean : tensor<1024x4096xf32>
  %n = graph.mul %d, %rstd : tensor<1024x4096xf32>
  %p = graph.mul %dy, %n : tensor<1024x4096xf32>
  %s = graph.add %dx, %g : tensor<1024x4096xf32>
  %z = graph.cast %s : tensor<1024x4096xf32> -> tensor<1024x4096xbf16>
  %y = graph.cast %z : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %c0 = graph.reshape %p : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s0 = graph.reduce sum %c0 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  %c1 = graph.reshape %dy : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s1 = graph.reduce sum %c1 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  %c2 = graph.reshape %y : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s2 = graph.reduce sum %c2 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  return %z, %s0, %s1, %s2 : tensor<1024x4096xbf16>, tensor<128x4096xf32>, tensor<128x4096xf32>, tensor<128x4096xf32>
}
func.func @call_layer_norm_4096_bf16(%a: memref<1024x4096xbf16>, %b: memref<4096xbf16>, %m: memref<1024xf32>, %r: memref<1024xf32>, %e: memref<1024x4096xbf16>, %f: memref<1024x4096xbf16>, %o0: memref<1024x4096xbf16>, %o1: memref<128x4096xf32>, %o2: memref<128x4096xf32>, %o3: memref<128x4096xf32>) {
  exec.call @layer_norm_4096_bf16 ins(%a, %b, %m, %r, %e, %f : memref<1024x4096xbf16>, memref<4096xbf16>, memref<1024xf32>, memref<1024xf32>, memref<1024x4096xbf16>, memref<1024x4096xbf16>) outs(%o0, %o1, %o2, %o3 : memref<1024x4096xbf16>, memref<128x4096xf32>, memref<128x4096xf32>, memref<128x4096xf32>) accumulate [0, 0, 0, 0]
  return
}
func.func private @layer_norm_4096_f32(%a: tensor<1024x4096xf32>, %b: tensor<4096xf32>, %m: tensor<1024xf32>, %r: tensor<1024xf32>, %e: tensor<1024x4096xf32>, %f: tensor<1024x4096xf32>) -> (tensor<1024x4096xf32>, tensor<128x4096xf32>, tensor<128x4096xf32>, tensor<128x4096xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<1024x4096xf32> -> tensor<1024x4096xf32>
  %w = graph.cast %b : tensor<4096xf32> -> tensor<4096xf32>
  %dy = graph.cast %e : tensor<1024x4096xf32> -> tensor<1024x4096xf32>
  %g = graph.cast %f : tensor<1024x4096xf32> -> tensor<1024x4096xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<1024x4096xf32>, tensor<4096xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %rstd1 = graph.reshape %r : tensor<1024xf32> -> tensor<1024x1xf32>
  %rstd = graph.broadcast %rstd1 : tensor<1024x1xf32> -> tensor<1024x4096xf32>
  %mean1 = graph.reshape %m : tensor<1024xf32> -> tensor<1024x1xf32>
  %mean = graph.broadcast %mean1 : tensor<1024x1xf32> -> tensor<1024x4096xf32>
  %d = graph.sub %x, %mean : tensor<1024x4096xf32>
  %n = graph.mul %d, %rstd : tensor<1024x4096xf32>
  %p = graph.mul %dy, %n : tensor<1024x4096xf32>
  %s = graph.add %dx, %g : tensor<1024x4096xf32>
  %z = graph.cast %s : tensor<1024x4096xf32> -> tensor<1024x4096xf32>
  %y = graph.cast %z : tensor<1024x4096xf32> -> tensor<1024x4096xf32>
  %c0 = graph.reshape %p : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s0 = graph.reduce sum %c0 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  %c1 = graph.reshape %dy : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s1 = graph.reduce sum %c1 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  %c2 = graph.reshape %y : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s2 = graph.reduce sum %c2 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  return %z, %s0, %s1, %s2 : tensor<1024x4096xf32>, tensor<128x4096xf32>, tensor<128x4096xf32>, tensor<128x4096xf32>
}
func.func @call_layer_norm_4096_f32(%a: memref<1024x4096xf32>, %b: memref<4096xf32>, %m: memref<1024xf32>, %r: memref<1024xf32>, %e: memref<1024x4096xf32>, %f: memref<1024x4096xf32>, %o0: memref<1024x4096xf32>, %o1: memref<128x4096xf32>, %o2: memref<128x4096xf32>, %o3: memref<128x4096xf32>) {
  exec.call @layer_norm_4096_f32 ins(%a, %b, %m, %r, %e, %f : memref<1024x4096xf32>, memref<4096xf32>, memref<1024xf32>, memref<1024xf32>, memref<1024x4096xf32>, memref<1024x4096xf32>) outs(%o0, %o1, %o2, %o3 : memref<1024x4096xf32>, memref<128x4096xf32>, memref<128x4096xf32>, memref<128x4096xf32>) accumulate [0, 0, 0, 0]
  return
}
func.func private @rms_norm_4096_bf16(%a: tensor<1024x4096xbf16>, %b: tensor<4096xbf16>, %r: tensor<1024xf32>, %e: tensor<1024x4096xbf16>, %f: tensor<1024x4096xbf16>) -> (tensor<1024x4096xbf16>, tensor<128x4096xf32>, tensor<128x4096xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %w = graph.cast %b : tensor<4096xbf16> -> tensor<4096xf32>
  %dy = graph.cast %e : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %g = graph.cast %f : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %dx = graph.rms_norm_backward %x, %w, %r, %dy : (tensor<1024x4096xf32>, tensor<4096xf32>, tensor<1024xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %rstd1 = graph.reshape %r : tensor<1024xf32> -> tensor<1024x1xf32>
  %rstd = graph.broadcast %rstd1 : tensor<1024x1xf32> -> tensor<1024x4096xf32>
  %n = graph.mul %x, %rstd : tensor<1024x4096xf32>
  %p = graph.mul %dy, %n : tensor<1024x4096xf32>
  %s = graph.add %dx, %g : tensor<1024x4096xf32>
  %z = graph.cast %s : tensor<1024x4096xf32> -> tensor<1024x4096xbf16>
  %y = graph.cast %z : tensor<1024x4096xbf16> -> tensor<1024x4096xf32>
  %c0 = graph.reshape %p : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s0 = graph.reduce sum %c0 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  %c1 = graph.reshape %y : tensor<1024x4096xf32> -> tensor<128x8x4096xf32>
  %s1 = graph.reduce sum %c1 dims [1] : tensor<128x8x4096xf32> -> tensor<128x4096xf32>
  return %z, %s0, %s1 : tensor<1024x4096xbf16>, tensor<128x4096xf32>, tensor<128x4096xf32>
}
func.func @call_rms_norm_4096_bf16(%a: memref<1024x4096xbf16>, %b: memref<4096xbf16>, %r: memref<1024xf32>, %e: memref<1024x4096xbf16>, %f: memref<1024x4096xbf16>, %o0: memref<1024x4096xbf16>, %o1: memref<128x4096xf32>, %o2: memref<128x4096xf32>) {
  exec.call @rms_norm_4096_bf16 ins(%a, %b, %r, %e, %f : memref<1024x4096xbf16>, memref<4096xbf16>, memref<1024xf32>, memref<1024x4096xbf16>, memref<1024x4096xbf16>) outs(%o0, %o1, %o2 : memref<1024x4096xbf16>, memref<128x4096xf32>, memref<128x4096xf32>) accumulate [0, 0, 0]
  return
}
