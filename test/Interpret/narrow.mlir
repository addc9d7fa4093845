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

// Whatever computes a result of sixteen bits, it is rounded once: 256 + 1 + 1 is summed in f32, where nothing is lost,
// and 1 + 255/256 is as near to 1.9921875 as to 2, which is even.
// CHECK: // product.0: tensor<1x2xbf16> [258, 2]
// CHECK: // product.1: tensor<1x2xf32> [258, 1.99609]
// EXACT: // product.0: tensor<1x2xbf16> [258, 1.99609]
func.func @product() -> (tensor<1x2xbf16>, tensor<1x2xf32>) {
  %x = graph.constant dense<1.0> : tensor<1x3xbf16>
  %w = graph.constant dense<[[256.0, 1.0], [1.0, 0.99609375], [1.0, 0.0]]> : tensor<3x2xbf16>
  %y = graph.contract "ab,bc->ac" %x, %w : (tensor<1x3xbf16>, tensor<3x2xbf16>) -> tensor<1x2xbf16>
  %sums = graph.contract "ab,bc->ac" %x, %w : (tensor<1x3xbf16>, tensor<3x2xbf16>) -> tensor<1x2xf32>
  return %y, %sums : tensor<1x2xbf16>, tensor<1x2xf32>
}

// Two keys alike: half of 256 and of 258 is 257, which bf16 has not. The sum of the scores stays as it is.
// CHECK: // attention.0: tensor<1x1x1x1xbf16> [256]
// CHECK: // attention.1: tensor<1x1x1xf64> [1.69315]
// EXACT: // attention.0: tensor<1x1x1x1xbf16> [257]
// With q = dout = 1 + 2^-7, a score's gradient is 129/256, and dk 129^2/2^15.
// CHECK: // backward.0: tensor<1x2x1x1xbf16> [-0.507812, 0.507812]
// CHECK: // backward.1: tensor<1x2x1x1xbf16> [0.503906, 0.503906]
// EXACT: // backward.0: tensor<1x2x1x1xbf16> [-0.507843, 0.507843]
func.func @attention() -> (tensor<1x1x1x1xbf16>, tensor<1x1x1xf64>) {
  %q = graph.constant dense<1.0> : tensor<1x1x1x1xbf16>
  %k = graph.constant dense<1.0> : tensor<1x2x1x1xbf16>
  %v = graph.constant dense<[[[[256.0]], [[258.0]]]]> : tensor<1x2x1x1xbf16>
  %out, %lse = graph.attention none %q, %k, %v scale 1.0
      : (tensor<1x1x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16>) -> (tensor<1x1x1x1xbf16>, tensor<1x1x1xf64>)
  return %out, %lse : tensor<1x1x1x1xbf16>, tensor<1x1x1xf64>
}
func.func @backward() -> (tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16>) {
  %q = graph.constant dense<1.0078125> : tensor<1x1x1x1xbf16>
  %k = graph.constant dense<1.0> : tensor<1x2x1x1xbf16>
  %v = graph.constant dense<[[[[256.0]], [[258.0]]]]> : tensor<1x2x1x1xbf16>
  %out, %lse = graph.attention none %q, %k, %v scale 1.0
      : (tensor<1x1x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16>) -> (tensor<1x1x1x1xbf16>, tensor<1x1x1xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %k, %v, %out, %lse, %q scale 1.0
      : (tensor<1x1x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x1x1x1xbf16>, tensor<1x1x1xf64>, tensor<1x1x1x1xbf16>)
      -> (tensor<1x1x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16>)
  return %dk, %dv : tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16>
}

// In f16 from 2048 on only even numbers are there, and 2049 is as near to either.
// CHECK: // half.0: tensor<1x1x1x1xf16> [2048]
// CHECK: // half.1: tensor<1x1xf16> [2052]
// EXACT: // half.0: tensor<1x1x1x1xf16> [2049]
// EXACT: // half.1: tensor<1x1xf16> [2051]
func.func @half() -> (tensor<1x1x1x1xf16>, tensor<1x1xf16>) {
  %q = graph.constant dense<1.0> : tensor<1x1x1x1xf16>
  %k = graph.constant dense<1.0> : tensor<1x2x1x1xf16>
  %v = graph.constant dense<[[[[2048.0]], [[2050.0]]]]> : tensor<1x2x1x1xf16>
  %out, %lse = graph.attention none %q, %k, %v scale 1.0
      : (tensor<1x1x1x1xf16>, tensor<1x2x1x1xf16>, tensor<1x2x1x1xf16>) -> (tensor<1x1x1x1xf16>, tensor<1x1x1xf32>)
  %x = graph.constant dense<[[1.0, 1.0]]> : tensor<1x2xf16>
  %w = graph.constant dense<[[2048.0], [3.0]]> : tensor<2x1xf16>
  %y = graph.contract "ab,bc->ac" %x, %w : (tensor<1x2xf16>, tensor<2x1xf16>) -> tensor<1x1xf16>
  return %out, %y : tensor<1x1x1x1xf16>, tensor<1x1xf16>
}
