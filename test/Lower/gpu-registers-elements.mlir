// What NVIDIA's assembler makes of element-wise kernels: at most 64 registers, and nothing is spilled.
// REQUIRES: ptxas
// RUN: xlc-opt %s --xlc-expand-named-ops --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null > %t.ptx
// RUN: ptxas -v --gpu-name sm_80 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_90 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_100 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_120 %t.ptx -o /dev/null 2>&1 | FileCheck %s

// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-5][0-9]|6[0-4])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-5][0-9]|6[0-4])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-5][0-9]|6[0-4])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-5][0-9]|6[0-4])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-5][0-9]|6[0-4])}} registers
// CHECK-NOT: Used

func.func private @gelu_tanh(%a: tensor<64x3072xbf16>) -> (tensor<64x3072xbf16>) attributes {exec.kind = #exec.kernel<loop>} {
  %x = graph.cast %a : tensor<64x3072xbf16> -> tensor<64x3072xf32>
  %y = graph.gelu tanh %x : tensor<64x3072xf32>
  %z = graph.cast %y : tensor<64x3072xf32> -> tensor<64x3072xbf16>
  return %z : tensor<64x3072xbf16>
}
func.func private @gelu_tanh_backward(%a: tensor<64x3072xbf16>, %b: tensor<64x3072xbf16>) -> (tensor<64x3072xbf16>) attributes {exec.kind = #exec.kernel<loop>} {
  %x = graph.cast %a : tensor<64x3072xbf16> -> tensor<64x3072xf32>
  %dy = graph.cast %b : tensor<64x3072xbf16> -> tensor<64x3072xf32>
  %y = graph.gelu_backward tanh %x, %dy : tensor<64x3072xf32>
  %z = graph.cast %y : tensor<64x3072xf32> -> tensor<64x3072xbf16>
  return %z : tensor<64x3072xbf16>
}
func.func private @gelu_erf(%a: tensor<64x3072xbf16>) -> (tensor<64x3072xbf16>) attributes {exec.kind = #exec.kernel<loop>} {
  %x = graph.cast %a : tensor<64x3072xbf16> -> tensor<64x3072xf32>
  %y = graph.gelu erf %x : tensor<64x3072xf32>
  %z = graph.cast %y : tensor<64x3072xf32> -> tensor<64x3072xbf16>
  return %z : tensor<64x3072xbf16>
}
func.func private @gelu_erf_backward(%a: tensor<64x3072xbf16>, %b: tensor<64x3072xbf16>) -> (tensor<64x3072xbf16>) attributes {exec.kind = #exec.kernel<loop>} {
  %x = graph.cast %a : tensor<64x3072xbf16> -> tensor<64x3072xf32>
  %dy = graph.cast %b : tensor<64x3072xbf16> -> tensor<64x3072xf32>
  %y = graph.gelu_backward erf %x, %dy : tensor<64x3072xf32>
  %z = graph.cast %y : tensor<64x3072xf32> -> tensor<64x3072xbf16>
  return %z : tensor<64x3072xbf16>
}
func.func private @adamw(%p: tensor<65536xf32>, %g: tensor<65536xf32>, %s: tensor<6xf32>, %m: tensor<65536xf32>, %v: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<65536xf32>, tensor<65536xf32>, tensor<65536xbf16>) attributes {exec.kind = #exec.kernel<loop>} {
  %p2, %states:2 = graph.optimizer_step adamw %p, %g, %s states %m, %v {beta1 = 9.0e-1 : f64, beta2 = 9.5e-1 : f64, eps = 1.0e-8 : f64, weight_decay = 1.0e-1 : f64} : (tensor<65536xf32>, tensor<65536xf32>, tensor<6xf32>, tensor<65536xf32>, tensor<65536xf32>) -> (tensor<65536xf32>, tensor<65536xf32>, tensor<65536xf32>)
  %z = graph.cast %p2 : tensor<65536xf32> -> tensor<65536xbf16>
  return %p2, %states#0, %states#1, %z : tensor<65536xf32>, tensor<65536xf32>, tensor<65536xf32>, tensor<65536xbf16>
}
func.func @calls(%gelu_tanh_a: memref<64x3072xbf16>, %gelu_tanh_o0: memref<64x3072xbf16>, %gelu_tanh_backward_a: memref<64x3072xbf16>, %gelu_tanh_backward_b: memref<64x3072xbf16>, %gelu_tanh_backward_o0: memref<64x3072xbf16>, %gelu_erf_a: memref<64x3072xbf16>, %gelu_erf_o0: memref<64x3072xbf16>, %gelu_erf_backward_a: memref<64x3072xbf16>, %gelu_erf_backward_b: memref<64x3072xbf16>, %gelu_erf_backward_o0: memref<64x3072xbf16>, %adamw_p: memref<65536xf32>, %adamw_g: memref<65536xf32>, %adamw_s: memref<6xf32>, %adamw_m: memref<65536xf32>, %adamw_v: memref<65536xf32>, %adamw_o0: memref<65536xf32>, %adamw_o1: memref<65536xf32>, %adamw_o2: memref<65536xf32>, %adamw_o3: memref<65536xbf16>) {
  exec.call @gelu_tanh ins(%gelu_tanh_a : memref<64x3072xbf16>) outs(%gelu_tanh_o0 : memref<64x3072xbf16>) accumulate [0]
  exec.call @gelu_tanh_backward ins(%gelu_tanh_backward_a, %gelu_tanh_backward_b : memref<64x3072xbf16>, memref<64x3072xbf16>) outs(%gelu_tanh_backward_o0 : memref<64x3072xbf16>) accumulate [0]
  exec.call @gelu_erf ins(%gelu_erf_a : memref<64x3072xbf16>) outs(%gelu_erf_o0 : memref<64x3072xbf16>) accumulate [0]
  exec.call @gelu_erf_backward ins(%gelu_erf_backward_a, %gelu_erf_backward_b : memref<64x3072xbf16>, memref<64x3072xbf16>) outs(%gelu_erf_backward_o0 : memref<64x3072xbf16>) accumulate [0]
  exec.call @adamw ins(%adamw_p, %adamw_g, %adamw_s, %adamw_m, %adamw_v : memref<65536xf32>, memref<65536xf32>, memref<6xf32>, memref<65536xf32>, memref<65536xf32>) outs(%adamw_o0, %adamw_o1, %adamw_o2, %adamw_o3 : memref<65536xf32>, memref<65536xf32>, memref<65536xf32>, memref<65536xbf16>) accumulate [0, 0, 0, 0]
  return
}
