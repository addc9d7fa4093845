// RUN: not xlc-opt %s --xlc-insert-casts=compute=fp8 2>&1 | FileCheck %s
// RUN: not xlc-opt %s --xlc-verify-precision=compute=fp8 2>&1 | FileCheck %s
// CHECK: error: compute is 'fp8'; it must be bf16 or f16
func.func @micro_batch(%x: tensor<2xf32>) attributes {graph.entry = #graph.purpose<train>} {
  return
}
