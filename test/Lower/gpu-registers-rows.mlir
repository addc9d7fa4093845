// What NVIDIA's assembler makes of norms and softmax: at most 128 registers, and nothing is spilled.
// REQUIRES: ptxas
// RUN: xlc-opt %s --xlc-expand-named-ops --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null > %t.ptx
// RUN: ptxas -v --gpu-name sm_80 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_90 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_100 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_120 %t.ptx -o /dev/null 2>&1 | FileCheck %s

// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NEXT: Used {{([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])}} registers
// CHECK-NOT: Used

func.func private @norm_768_bf16(%a: tensor<64x768xbf16>, %b: tensor<768xbf16>, %c: tensor<768xbf16>) -> (tensor<64x768xbf16>, tensor<64xf32>, tensor<64xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x768xbf16> -> tensor<64x768xf32>
  %w = graph.cast %b : tensor<768xbf16> -> tensor<768xf32>
  %s = graph.cast %c : tensor<768xbf16> -> tensor<768xf32>
  %y, %mean, %rstd = graph.layer_norm %x, %w, %s {epsilon = 1.0e-5 : f64} : (tensor<64x768xf32>, tensor<768xf32>, tensor<768xf32>) -> (tensor<64x768xf32>, tensor<64xf32>, tensor<64xf32>)
  %z = graph.cast %y : tensor<64x768xf32> -> tensor<64x768xbf16>
  return %z, %mean, %rstd : tensor<64x768xbf16>, tensor<64xf32>, tensor<64xf32>
}
func.func private @norm_backward_768_bf16(%a: tensor<64x768xbf16>, %b: tensor<768xbf16>, %m: tensor<64xf32>, %r: tensor<64xf32>, %e: tensor<64x768xbf16>) -> (tensor<64x768xbf16>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x768xbf16> -> tensor<64x768xf32>
  %w = graph.cast %b : tensor<768xbf16> -> tensor<768xf32>
  %dy = graph.cast %e : tensor<64x768xbf16> -> tensor<64x768xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<64x768xf32>, tensor<768xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x768xf32>) -> tensor<64x768xf32>
  %z = graph.cast %dx : tensor<64x768xf32> -> tensor<64x768xbf16>
  return %z : tensor<64x768xbf16>
}
func.func private @norm_1024_f32(%a: tensor<64x1024xf32>, %b: tensor<1024xf32>, %c: tensor<1024xf32>) -> (tensor<64x1024xf32>, tensor<64xf32>, tensor<64xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x1024xf32> -> tensor<64x1024xf32>
  %w = graph.cast %b : tensor<1024xf32> -> tensor<1024xf32>
  %s = graph.cast %c : tensor<1024xf32> -> tensor<1024xf32>
  %y, %mean, %rstd = graph.layer_norm %x, %w, %s {epsilon = 1.0e-5 : f64} : (tensor<64x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> (tensor<64x1024xf32>, tensor<64xf32>, tensor<64xf32>)
  %z = graph.cast %y : tensor<64x1024xf32> -> tensor<64x1024xf32>
  return %z, %mean, %rstd : tensor<64x1024xf32>, tensor<64xf32>, tensor<64xf32>
}
func.func private @norm_backward_1024_f32(%a: tensor<64x1024xf32>, %b: tensor<1024xf32>, %m: tensor<64xf32>, %r: tensor<64xf32>, %e: tensor<64x1024xf32>) -> (tensor<64x1024xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x1024xf32> -> tensor<64x1024xf32>
  %w = graph.cast %b : tensor<1024xf32> -> tensor<1024xf32>
  %dy = graph.cast %e : tensor<64x1024xf32> -> tensor<64x1024xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<64x1024xf32>, tensor<1024xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %z = graph.cast %dx : tensor<64x1024xf32> -> tensor<64x1024xf32>
  return %z : tensor<64x1024xf32>
}
func.func private @norm_4096_bf16(%a: tensor<64x4096xbf16>, %b: tensor<4096xbf16>, %c: tensor<4096xbf16>) -> (tensor<64x4096xbf16>, tensor<64xf32>, tensor<64xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x4096xbf16> -> tensor<64x4096xf32>
  %w = graph.cast %b : tensor<4096xbf16> -> tensor<4096xf32>
  %s = graph.cast %c : tensor<4096xbf16> -> tensor<4096xf32>
  %y, %mean, %rstd = graph.layer_norm %x, %w, %s {epsilon = 1.0e-5 : f64} : (tensor<64x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> (tensor<64x4096xf32>, tensor<64xf32>, tensor<64xf32>)
  %z = graph.cast %y : tensor<64x4096xf32> -> tensor<64x4096xbf16>
  return %z, %mean, %rstd : tensor<64x4096xbf16>, tensor<64xf32>, tensor<64xf32>
}
func.func private @norm_backward_4096_bf16(%a: tensor<64x4096xbf16>, %b: tensor<4096xbf16>, %m: tensor<64xf32>, %r: tensor<64xf32>, %e: tensor<64x4096xbf16>) -> (tensor<64x4096xbf16>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x4096xbf16> -> tensor<64x4096xf32>
  %w = graph.cast %b : tensor<4096xbf16> -> tensor<4096xf32>
  %dy = graph.cast %e : tensor<64x4096xbf16> -> tensor<64x4096xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<64x4096xf32>, tensor<4096xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %z = graph.cast %dx : tensor<64x4096xf32> -> tensor<64x4096xbf16>
  return %z : tensor<64x4096xbf16>
}
func.func private @norm_16384_bf16(%a: tensor<64x16384xbf16>, %b: tensor<16384xbf16>, %c: tensor<16384xbf16>) -> (tensor<64x16384xbf16>, tensor<64xf32>, tensor<64xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x16384xbf16> -> tensor<64x16384xf32>
  %w = graph.cast %b : tensor<16384xbf16> -> tensor<16384xf32>
  %s = graph.cast %c : tensor<16384xbf16> -> tensor<16384xf32>
  %y, %mean, %rstd = graph.layer_norm %x, %w, %s {epsilon = 1.0e-5 : f64} : (tensor<64x16384xf32>, tensor<16384xf32>, tensor<16384xf32>) -> (tensor<64x16384xf32>, tensor<64xf32>, tensor<64xf32>)
  %z = graph.cast %y : tensor<64x16384xf32> -> tensor<64x16384xbf16>
  return %z, %mean, %rstd : tensor<64x16384xbf16>, tensor<64xf32>, tensor<64xf32>
}
func.func private @norm_backward_16384_bf16(%a: tensor<64x16384xbf16>, %b: tensor<16384xbf16>, %m: tensor<64xf32>, %r: tensor<64xf32>, %e: tensor<64x16384xbf16>) -> (tensor<64x16384xbf16>) attributes {exec.kind = #exec.kernel<rows>} {
  %x = graph.cast %a : tensor<64x16384xbf16> -> tensor<64x16384xf32>
  %w = graph.cast %b : tensor<16384xbf16> -> tensor<16384xf32>
  %dy = graph.cast %e : tensor<64x16384xbf16> -> tensor<64x16384xf32>
  %dx = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<64x16384xf32>, tensor<16384xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64x16384xf32>) -> tensor<64x16384xf32>
  %z = graph.cast %dx : tensor<64x16384xf32> -> tensor<64x16384xbf16>
  return %z : tensor<64x16384xbf16>
}
func.func private @softmax_128(%a: tensor<64x128xf32>) -> (tensor<64x128xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %y = graph.softmax %a : tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}
func.func private @softmax_1000(%a: tensor<64x1000xf32>) -> (tensor<64x1000xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %y = graph.softmax %a : tensor<64x1000xf32>
  return %y : tensor<64x1000xf32>
}
func.func private @softmax_2048(%a: tensor<64x2048xf32>) -> (tensor<64x2048xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %y = graph.softmax %a : tensor<64x2048xf32>
  return %y : tensor<64x2048xf32>
}
func.func @calls(%norm_768_bf16_a: memref<64x768xbf16>, %norm_768_bf16_b: memref<768xbf16>, %norm_768_bf16_c: memref<768xbf16>, %norm_768_bf16_o0: memref<64x768xbf16>, %norm_768_bf16_o1: memref<64xf32>, %norm_768_bf16_o2: memref<64xf32>, %norm_backward_768_bf16_a: memref<64x768xbf16>, %norm_backward_768_bf16_b: memref<768xbf16>, %norm_backward_768_bf16_m: memref<64xf32>, %norm_backward_768_bf16_r: memref<64xf32>, %norm_backward_768_bf16_e: memref<64x768xbf16>, %norm_backward_768_bf16_o0: memref<64x768xbf16>, %norm_1024_f32_a: memref<64x1024xf32>, %norm_1024_f32_b: memref<1024xf32>, %norm_1024_f32_c: memref<1024xf32>, %norm_1024_f32_o0: memref<64x1024xf32>, %norm_1024_f32_o1: memref<64xf32>, %norm_1024_f32_o2: memref<64xf32>, %norm_backward_1024_f32_a: memref<64x1024xf32>, %norm_backward_1024_f32_b: memref<1024xf32>, %norm_backward_1024_f32_m: memref<64xf32>, %norm_backward_1024_f32_r: memref<64xf32>, %norm_backward_1024_f32_e: memref<64x1024xf32>, %norm_backward_1024_f32_o0: memref<64x1024xf32>, %norm_4096_bf16_a: memref<64x4096xbf16>, %norm_4096_bf16_b: memref<4096xbf16>, %norm_4096_bf16_c: memref<4096xbf16>, %norm_4096_bf16_o0: memref<64x4096xbf16>, %norm_4096_bf16_o1: memref<64xf32>, %norm_4096_bf16_o2: memref<64xf32>, %norm_backward_4096_bf16_a: memref<64x4096xbf16>, %norm_backward_4096_bf16_b: memref<4096xbf16>, %norm_backward_4096_bf16_m: memref<64xf32>, %norm_backward_4096_bf16_r: memref<64xf32>, %norm_backward_4096_bf16_e: memref<64x4096xbf16>, %norm_backward_4096_bf16_o0: memref<64x4096xbf16>, %norm_16384_bf16_a: memref<64x16384xbf16>, %norm_16384_bf16_b: memref<16384xbf16>, %norm_16384_bf16_c: memref<16384xbf16>, %norm_16384_bf16_o0: memref<64x16384xbf16>, %norm_16384_bf16_o1: memref<64xf32>, %norm_16384_bf16_o2: memref<64xf32>, %norm_backward_16384_bf16_a: memref<64x16384xbf16>, %norm_backward_16384_bf16_b: memref<16384xbf16>, %norm_backward_16384_bf16_m: memref<64xf32>, %norm_backward_16384_bf16_r: memref<64xf32>, %norm_backward_16384_bf16_e: memref<64x16384xbf16>, %norm_backward_16384_bf16_o0: memref<64x16384xbf16>, %softmax_128_a: memref<64x128xf32>, %softmax_128_o0: memref<64x128xf32>, %softmax_1000_a: memref<64x1000xf32>, %softmax_1000_o0: memref<64x1000xf32>, %softmax_2048_a: memref<64x2048xf32>, %softmax_2048_o0: memref<64x2048xf32>) {
  exec.call @norm_768_bf16 ins(%norm_768_bf16_a, %norm_768_bf16_b, %norm_768_bf16_c : memref<64x768xbf16>, memref<768xbf16>, memref<768xbf16>) outs(%norm_768_bf16_o0, %norm_768_bf16_o1, %norm_768_bf16_o2 : memref<64x768xbf16>, memref<64xf32>, memref<64xf32>) accumulate [0, 0, 0]
  exec.call @norm_backward_768_bf16 ins(%norm_backward_768_bf16_a, %norm_backward_768_bf16_b, %norm_backward_768_bf16_m, %norm_backward_768_bf16_r, %norm_backward_768_bf16_e : memref<64x768xbf16>, memref<768xbf16>, memref<64xf32>, memref<64xf32>, memref<64x768xbf16>) outs(%norm_backward_768_bf16_o0 : memref<64x768xbf16>) accumulate [0]
  exec.call @norm_1024_f32 ins(%norm_1024_f32_a, %norm_1024_f32_b, %norm_1024_f32_c : memref<64x1024xf32>, memref<1024xf32>, memref<1024xf32>) outs(%norm_1024_f32_o0, %norm_1024_f32_o1, %norm_1024_f32_o2 : memref<64x1024xf32>, memref<64xf32>, memref<64xf32>) accumulate [0, 0, 0]
  exec.call @norm_backward_1024_f32 ins(%norm_backward_1024_f32_a, %norm_backward_1024_f32_b, %norm_backward_1024_f32_m, %norm_backward_1024_f32_r, %norm_backward_1024_f32_e : memref<64x1024xf32>, memref<1024xf32>, memref<64xf32>, memref<64xf32>, memref<64x1024xf32>) outs(%norm_backward_1024_f32_o0 : memref<64x1024xf32>) accumulate [0]
  exec.call @norm_4096_bf16 ins(%norm_4096_bf16_a, %norm_4096_bf16_b, %norm_4096_bf16_c : memref<64x4096xbf16>, memref<4096xbf16>, memref<4096xbf16>) outs(%norm_4096_bf16_o0, %norm_4096_bf16_o1, %norm_4096_bf16_o2 : memref<64x4096xbf16>, memref<64xf32>, memref<64xf32>) accumulate [0, 0, 0]
  exec.call @norm_backward_4096_bf16 ins(%norm_backward_4096_bf16_a, %norm_backward_4096_bf16_b, %norm_backward_4096_bf16_m, %norm_backward_4096_bf16_r, %norm_backward_4096_bf16_e : memref<64x4096xbf16>, memref<4096xbf16>, memref<64xf32>, memref<64xf32>, memref<64x4096xbf16>) outs(%norm_backward_4096_bf16_o0 : memref<64x4096xbf16>) accumulate [0]
  exec.call @norm_16384_bf16 ins(%norm_16384_bf16_a, %norm_16384_bf16_b, %norm_16384_bf16_c : memref<64x16384xbf16>, memref<16384xbf16>, memref<16384xbf16>) outs(%norm_16384_bf16_o0, %norm_16384_bf16_o1, %norm_16384_bf16_o2 : memref<64x16384xbf16>, memref<64xf32>, memref<64xf32>) accumulate [0, 0, 0]
  exec.call @norm_backward_16384_bf16 ins(%norm_backward_16384_bf16_a, %norm_backward_16384_bf16_b, %norm_backward_16384_bf16_m, %norm_backward_16384_bf16_r, %norm_backward_16384_bf16_e : memref<64x16384xbf16>, memref<16384xbf16>, memref<64xf32>, memref<64xf32>, memref<64x16384xbf16>) outs(%norm_backward_16384_bf16_o0 : memref<64x16384xbf16>) accumulate [0]
  exec.call @softmax_128 ins(%softmax_128_a : memref<64x128xf32>) outs(%softmax_128_o0 : memref<64x128xf32>) accumulate [0]
  exec.call @softmax_1000 ins(%softmax_1000_a : memref<64x1000xf32>) outs(%softmax_1000_o0 : memref<64x1000xf32>) accumulate [0]
  exec.call @softmax_2048 ins(%softmax_2048_a : memref<64x2048xf32>) outs(%softmax_2048_o0 : memref<64x2048xf32>) accumulate [0]
  return
}
