// What sixteen bits leave of a float. In single precision the interpreter rounds as kernels do: to nearest, ties to
// even, subnormal numbers kept, what is too large infinite. In double precision and in the field a cast changes nothing:
// they tell what a program means, not what it loses.
// RUN: xlc-opt --xlc-interpret=arithmetic=f32 %s | FileCheck %s
// RUN: xlc-opt --xlc-interpret %s | FileCheck %s --check-prefix=EXACT

// 257 lies between 256 and 258, 259 between 258 and 260: both to the even one. 1e-40 lies nearest to 2^-133, the smallest of all.
// CHECK: // bf16.0: tensor<5xf32> [256, 260, 0.333984, 9.18355e-41, inf]
// EXACT: // bf16.0: tensor<5xf32> [257, 259, 0.333333, 9.99995e-41, 3.4e+38]
func.func @bf16() -> tensor<5xf32> {
  %x = graph.constant dense<[257.0, 259.0, 0.333333333, 1.0e-40, 3.4e38]> : tensor<5xf32>
  %y = graph.cast %x : tensor<5xf32> -> tensor<5xbf16>
  %z = graph.cast %y : tensor<5xbf16> -> tensor<5xf32>
  return %z : tensor<5xf32>
}

// The largest half is 65504; 65520 is as near to 65536, which is even. 2^-25 is as near to 0 as to 2^-24.
// CHECK: // f16.0: tensor<5xf32> [2048, 65504, inf, 0, 5.96046e-08]
// EXACT: // f16.0: tensor<5xf32> [2049, 65519, 65520, 2.98023e-08, 5.96046e-08]
func.func @f16() -> tensor<5xf32> {
  %x = graph.constant dense<[2049.0, 65519.0, 65520.0, 2.98023223876953125e-8, 5.9604644775390625e-8]> : tensor<5xf32>
  %y = graph.cast %x : tensor<5xf32> -> tensor<5xf16>
  %z = graph.cast %y : tensor<5xf16> -> tensor<5xf32>
  return %z : tensor<5xf32>
}
