// Where a library has no attention it is products, and kernels over rows of the scores.
// RUN: xlc-opt --xlc-target=cuda %s --xlc-normalize-reductions | FileCheck %s
// RUN: xlc-opt %s --xlc-normalize-reductions | FileCheck %s --check-prefix=CPU
// CPU-COUNT-12: graph.attention
// RUN: not xlc-opt --xlc-target=tpu %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not xlc-opt --xlc-target=cuda:sm_75 %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: xlc-opt --xlc-target=cuda:sm_90 %s --xlc-normalize-reductions | FileCheck %s
// TARGET: xlc-opt: error: --xlc-target must be one of cpu, cuda, optionally with :CHIP

// Scores are f32, and what is multiplied is bf16. Backward computes the probabilities again.
// CHECK-LABEL: @causal
// CHECK: %[[S:.*]] = graph.contract "bgmqd,bkgd->bgmqk" {{.*}} -> tensor<2x2x1x3x3xf32>
// CHECK: graph.compare le
// CHECK: graph.reduce max
// CHECK: graph.reduce sum
// CHECK-NOT: graph.isnan
// CHECK: %[[P:.*]] = graph.cast {{.*}} -> tensor<2x2x3x3xbf16>
// CHECK: graph.contract "bgmqk,bkge->bqgme" {{.*}} -> tensor<2x3x2x1x4xbf16>
// CHECK: graph.contract "bgmqd,bkgd->bgmqk"
// CHECK: graph.contract "bgmqe,bkge->bgmqk"
// CHECK: graph.contract "bgmqk,bgmqe->bkge" {{.*}} -> tensor<2x3x2x4xbf16>
// CHECK: graph.contract "bgmqk,bkgd->bqgmd"
// CHECK: graph.contract "bgmqk,bgmqd->bkgd"
func.func @causal(%q: tensor<2x3x2x4xbf16>, %k: tensor<2x3x2x4xbf16>, %v: tensor<2x3x2x4xbf16>, %d: tensor<2x3x2x4xbf16>) -> (tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>) {
  %out, %lse = graph.attention causal %q, %k, %v scale 0.5 : (tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>) -> (tensor<2x3x2x4xbf16>, tensor<2x2x3xf64>)
  %dq, %dk, %dv = graph.attention_backward causal %q, %k, %v, %out, %lse, %d scale 0.5 : (tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x2x3xf64>, tensor<2x3x2x4xbf16>) -> (tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>)
  return %dq, %dk, %dv : tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>
}

// Two heads share keys and values; a condition leaves some queries no key.
// CHECK-LABEL: @grouped
// CHECK: graph.forbids
func.func @grouped(%q: tensor<1x3x2x4xf32>, %k: tensor<1x5x1x4xf32>, %v: tensor<1x5x1x6xf32>, %d: tensor<1x3x2x6xf32>, %score: tensor<1x1x3x5xf32>) -> (tensor<1x3x2x6xf32>, tensor<1x2x3xf64>, tensor<1x3x2x4xf32>, tensor<1x5x1x4xf32>, tensor<1x5x1x6xf32>) {
  %zero = graph.constant dense<0.0> : tensor<1x1x3x5xf32>
  %seen = graph.compare eq %score, %zero : tensor<1x1x3x5xf32> -> tensor<1x1x3x5xi1>
  %out, %lse = graph.attention none %q, %k, %v bias %seen scale 0.5 : (tensor<1x3x2x4xf32>, tensor<1x5x1x4xf32>, tensor<1x5x1x6xf32>, tensor<1x1x3x5xi1>) -> (tensor<1x3x2x6xf32>, tensor<1x2x3xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %k, %v, %out, %lse, %d bias %seen scale 0.5 : (tensor<1x3x2x4xf32>, tensor<1x5x1x4xf32>, tensor<1x5x1x6xf32>, tensor<1x3x2x6xf32>, tensor<1x2x3xf64>, tensor<1x3x2x6xf32>, tensor<1x1x3x5xi1>) -> (tensor<1x3x2x4xf32>, tensor<1x5x1x4xf32>, tensor<1x5x1x6xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<1x3x2x6xf32>, tensor<1x2x3xf64>, tensor<1x3x2x4xf32>, tensor<1x5x1x4xf32>, tensor<1x5x1x6xf32>
}

// Of queries beyond the keys' window some see none, and attend to all alike.
func.func @window(%q: tensor<1x6x1x4xf32>, %k: tensor<1x3x1x4xf32>, %v: tensor<1x3x1x4xf32>, %d: tensor<1x6x1x4xf32>) -> (tensor<1x6x1x4xf32>, tensor<1x1x6xf64>, tensor<1x6x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>) {
  %out, %lse = graph.attention none %q, %k, %v scale 0.5 {uniform, window = 2 : i64} : (tensor<1x6x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>) -> (tensor<1x6x1x4xf32>, tensor<1x1x6xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %k, %v, %out, %lse, %d scale 0.5 {uniform, window = 2 : i64} : (tensor<1x6x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x6x1x4xf32>, tensor<1x1x6xf64>, tensor<1x6x1x4xf32>) -> (tensor<1x6x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<1x6x1x4xf32>, tensor<1x1x6xf64>, tensor<1x6x1x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>
}

// A causal window, floats that are added, and a scale that is no number of f32.
func.func @added(%q: tensor<2x4x1x4xf32>, %k: tensor<2x4x1x4xf32>, %v: tensor<2x4x1x4xf32>, %d: tensor<2x4x1x4xf32>, %b: tensor<1x1x1x4xf32>) -> (tensor<2x4x1x4xf32>, tensor<2x1x4xf64>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>) {
  %out, %lse = graph.attention causal %q, %k, %v bias %b scale 0.3 {window = 2 : i64} : (tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<1x1x1x4xf32>) -> (tensor<2x4x1x4xf32>, tensor<2x1x4xf64>)
  %dq, %dk, %dv = graph.attention_backward causal %q, %k, %v, %out, %lse, %d bias %b scale 0.3 {window = 2 : i64} : (tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x1x4xf64>, tensor<2x4x1x4xf32>, tensor<1x1x1x4xf32>) -> (tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<2x4x1x4xf32>, tensor<2x1x4xf64>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>, tensor<2x4x1x4xf32>
}

// Gradients reach scores of queries that see no key: here those of the second sample, and of the first by causality and the window.
func.func @reached(%q: tensor<2x3x2x4xf32>, %k: tensor<2x5x1x4xf32>, %d: tensor<2x3x2x4xf32>) -> (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x5x1x4xf32>, tensor<2x5x1x4xf32>) {
  %seen = graph.constant dense<[[[[false, true, true, true, true]]], [[[false, false, false, false, false]]]]> : tensor<2x1x1x5xi1>
  %out, %lse = graph.attention causal %q, %k, %k bias %seen scale 0.5 {added, uniform, window = 2 : i64} : (tensor<2x3x2x4xf32>, tensor<2x5x1x4xf32>, tensor<2x5x1x4xf32>, tensor<2x1x1x5xi1>) -> (tensor<2x3x2x4xf32>, tensor<2x2x3xf64>)
  %dq, %dk, %dv = graph.attention_backward causal %q, %k, %k, %out, %lse, %d bias %seen scale 0.5 {added, uniform, window = 2 : i64} : (tensor<2x3x2x4xf32>, tensor<2x5x1x4xf32>, tensor<2x5x1x4xf32>, tensor<2x3x2x4xf32>, tensor<2x2x3xf64>, tensor<2x3x2x4xf32>, tensor<2x1x1x5xi1>) -> (tensor<2x3x2x4xf32>, tensor<2x5x1x4xf32>, tensor<2x5x1x4xf32>)
  return %out, %dq, %dk, %dv : tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x5x1x4xf32>, tensor<2x5x1x4xf32>
}

// Probabilities are dropped in the product with V; two heads share keys, and the first query sees none.
// CHECK-LABEL: @dropped
// CHECK: graph.random_bits
// CHECK: graph.select
func.func @dropped(%q: tensor<2x3x4x4xf32>, %k: tensor<2x5x2x4xf32>, %v: tensor<2x5x2x6xf32>, %d: tensor<2x3x4x6xf32>) -> (tensor<2x3x4x6xf32>, tensor<2x4x3xf64>, tensor<2x3x4x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x6xf32>) {
  %seen = graph.constant dense<[[[[false, false, false, false, false], [true, true, false, true, true], [true, true, true, true, true]]]]> : tensor<1x1x3x5xi1>
  %draws = graph.constant dense<[[[0, 7, 3], [15, 7, 3], [30, 7, 3], [45, 7, 3]], [[60, 7, 3], [75, 7, 3], [90, 7, 3], [105, 7, 3]]]> : tensor<2x4x3xi64>
  %out, %lse = graph.attention none %q, %k, %v bias %seen dropping 2.500000e-01 by %draws scale 0.5 {uniform} : (tensor<2x3x4x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x6xf32>, tensor<1x1x3x5xi1>, tensor<2x4x3xi64>) -> (tensor<2x3x4x6xf32>, tensor<2x4x3xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %k, %v, %out, %lse, %d bias %seen dropping 2.500000e-01 by %draws scale 0.5 {uniform} : (tensor<2x3x4x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x6xf32>, tensor<2x3x4x6xf32>, tensor<2x4x3xf64>, tensor<2x3x4x6xf32>, tensor<1x1x3x5xi1>, tensor<2x4x3xi64>) -> (tensor<2x3x4x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x6xf32>)
  return %out, %lse, %dq, %dk, %dv : tensor<2x3x4x6xf32>, tensor<2x4x3xf64>, tensor<2x3x4x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x6xf32>
}
