// A kernel that wants more shared memory than GPUs give is refused here, not by the driver: sums of so many columns of f64, of which 512 threads
// keep one each.
// RUN: not xlc-opt %s --xlc-emit-gpu-kernels 2>&1 | FileCheck %s
// CHECK: error: kernel 'k' needs 53248 bytes of shared memory, but a GPU provides at most 49152

func.func private @k(%0: tensor<1024x64xf64>, %1: tensor<1024x64xf64>, %2: tensor<1024x64xf64>, %3: tensor<1024x64xf64>, %4: tensor<1024x64xf64>, %5: tensor<1024x64xf64>, %6: tensor<1024x64xf64>, %7: tensor<1024x64xf64>, %8: tensor<1024x64xf64>, %9: tensor<1024x64xf64>, %10: tensor<1024x64xf64>, %11: tensor<1024x64xf64>, %12: tensor<1024x64xf64>) -> (tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>) attributes {exec.kind = #exec.kernel<columns>} {
  %s0 = graph.reduce sum %0 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s1 = graph.reduce sum %1 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s2 = graph.reduce sum %2 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s3 = graph.reduce sum %3 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s4 = graph.reduce sum %4 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s5 = graph.reduce sum %5 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s6 = graph.reduce sum %6 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s7 = graph.reduce sum %7 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s8 = graph.reduce sum %8 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s9 = graph.reduce sum %9 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s10 = graph.reduce sum %10 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s11 = graph.reduce sum %11 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  %s12 = graph.reduce sum %12 dims [0] : tensor<1024x64xf64> -> tensor<64xf64>
  return %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12 : tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>
}
func.func @f(%0: memref<1024x64xf64>, %1: memref<1024x64xf64>, %2: memref<1024x64xf64>, %3: memref<1024x64xf64>, %4: memref<1024x64xf64>, %5: memref<1024x64xf64>, %6: memref<1024x64xf64>, %7: memref<1024x64xf64>, %8: memref<1024x64xf64>, %9: memref<1024x64xf64>, %10: memref<1024x64xf64>, %11: memref<1024x64xf64>, %12: memref<1024x64xf64>, %o0: memref<64xf64>, %o1: memref<64xf64>, %o2: memref<64xf64>, %o3: memref<64xf64>, %o4: memref<64xf64>, %o5: memref<64xf64>, %o6: memref<64xf64>, %o7: memref<64xf64>, %o8: memref<64xf64>, %o9: memref<64xf64>, %o10: memref<64xf64>, %o11: memref<64xf64>, %o12: memref<64xf64>) {
  exec.call @k ins(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>, memref<1024x64xf64>) outs(%o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12 : memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>, memref<64xf64>) accumulate [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  return
}
