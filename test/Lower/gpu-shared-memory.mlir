// Sums of the same columns that are one kernel at most (xlc-merge-sums): what they keep in shared memory is within the 48 KiB that a kernel has
// without asking.
// REQUIRES: ptxas
// RUN: xlc-opt %s --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null > %t.ptx
// RUN: ptxas -v --gpu-name sm_80 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// RUN: ptxas -v --gpu-name sm_100 %t.ptx -o /dev/null 2>&1 | FileCheck %s
// CHECK: 0 bytes spill stores
// CHECK-NEXT: 32768 bytes smem

func.func private @k(%0: tensor<1024x768xf32>, %1: tensor<1024x768xf32>, %2: tensor<1024x768xf32>, %3: tensor<1024x768xf32>, %4: tensor<1024x768xf32>, %5: tensor<1024x768xf32>, %6: tensor<1024x768xf32>, %7: tensor<1024x768xf32>, %8: tensor<1024x768xf32>, %9: tensor<1024x768xf32>, %10: tensor<1024x768xf32>, %11: tensor<1024x768xf32>, %12: tensor<1024x768xf32>, %13: tensor<1024x768xf32>, %14: tensor<1024x768xf32>, %15: tensor<1024x768xf32>) -> (tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>) attributes {exec.kind = #exec.kernel<columns>} {
  %s0 = graph.reduce sum %0 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s1 = graph.reduce sum %1 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s2 = graph.reduce sum %2 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s3 = graph.reduce sum %3 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s4 = graph.reduce sum %4 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s5 = graph.reduce sum %5 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s6 = graph.reduce sum %6 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s7 = graph.reduce sum %7 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s8 = graph.reduce sum %8 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s9 = graph.reduce sum %9 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s10 = graph.reduce sum %10 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s11 = graph.reduce sum %11 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s12 = graph.reduce sum %12 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s13 = graph.reduce sum %13 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s14 = graph.reduce sum %14 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  %s15 = graph.reduce sum %15 dims [0] : tensor<1024x768xf32> -> tensor<768xf32>
  return %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12, %s13, %s14, %s15 : tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>
}
func.func @f(%0: memref<1024x768xf32>, %1: memref<1024x768xf32>, %2: memref<1024x768xf32>, %3: memref<1024x768xf32>, %4: memref<1024x768xf32>, %5: memref<1024x768xf32>, %6: memref<1024x768xf32>, %7: memref<1024x768xf32>, %8: memref<1024x768xf32>, %9: memref<1024x768xf32>, %10: memref<1024x768xf32>, %11: memref<1024x768xf32>, %12: memref<1024x768xf32>, %13: memref<1024x768xf32>, %14: memref<1024x768xf32>, %15: memref<1024x768xf32>, %o0: memref<768xf32>, %o1: memref<768xf32>, %o2: memref<768xf32>, %o3: memref<768xf32>, %o4: memref<768xf32>, %o5: memref<768xf32>, %o6: memref<768xf32>, %o7: memref<768xf32>, %o8: memref<768xf32>, %o9: memref<768xf32>, %o10: memref<768xf32>, %o11: memref<768xf32>, %o12: memref<768xf32>, %o13: memref<768xf32>, %o14: memref<768xf32>, %o15: memref<768xf32>) {
  exec.call @k ins(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>, memref<1024x768xf32>) outs(%o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14, %o15 : memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>, memref<768xf32>) accumulate [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  return
}
