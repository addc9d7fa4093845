// Attention is recognised by what it computes: wherever the scale stands, whatever made the mask.
// RUN: xlc-opt %s --raise-attention --cse | FileCheck %s

// Scale on queries and keys, additive mask, guard against NaN; queries arrive as [batch, sequence, heads, width].
// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[Q:.*]]: tensor<1x3x2x4xf32>, %[[K:.*]]: tensor<1x3x2x4xf32>, %[[V:.*]]: tensor<1x3x2x4xf32>
func.func @causal(%q: tensor<1x3x2x4xf32>, %k: tensor<1x3x2x4xf32>, %v: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  // CHECK-NEXT: %[[OUT:.*]], %{{.*}} = graph.attention causal %[[Q]], %[[K]], %[[V]] scale 2.500000e-01
  // CHECK-NEXT: return %[[OUT]]
  %c = graph.constant dense<0.5> : tensor<f32>
  %half = graph.broadcast %c : tensor<f32> -> tensor<1x2x3x4xf32>
  %halfk = graph.broadcast %c : tensor<f32> -> tensor<1x2x4x3xf32>
  %qt = graph.transpose %q [0, 2, 1, 3] : tensor<1x3x2x4xf32> -> tensor<1x2x3x4xf32>
  %kt = graph.transpose %k [0, 2, 3, 1] : tensor<1x3x2x4xf32> -> tensor<1x2x4x3xf32>
  %vt = graph.transpose %v [0, 2, 1, 3] : tensor<1x3x2x4xf32> -> tensor<1x2x3x4xf32>
  %qs = graph.mul %qt, %half : tensor<1x2x3x4xf32>
  %ks = graph.mul %kt, %halfk : tensor<1x2x4x3xf32>
  %s = graph.contract "abxy,abyz->abxz" %qs, %ks : (tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x3x3xf32>
  %m = graph.constant dense<[[0.0, -3.4e38, -3.4e38], [0.0, 0.0, -3.4e38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %mb = graph.broadcast %m : tensor<3x3xf32> -> tensor<1x2x3x3xf32>
  %sm = graph.add %s, %mb : tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %n = graph.is_nan %p : tensor<1x2x3x3xf32> -> tensor<1x2x3x3xi1>
  %z = graph.constant dense<0.0> : tensor<1x2x3x3xf32>
  %g = graph.select %n, %z, %p : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->axbz" %g, %vt : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x3x2x4xf32>
  return %y : tensor<1x3x2x4xf32>
}

// Scale on the scores, a boolean mask that selects, no guard.
// CHECK-LABEL: func.func @selected
func.func @selected(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK: graph.attention causal {{.*}} scale 5.000000e-01
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %two = graph.constant dense<2.0> : tensor<1x2x3x3xf32>
  %d = graph.div %s, %two : tensor<1x2x3x3xf32>
  %m = graph.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %mb = graph.broadcast %m : tensor<3x3xi1> -> tensor<1x2x3x3xi1>
  %low = graph.constant dense<-1.0e9> : tensor<1x2x3x3xf32>
  %sm = graph.select %mb, %d, %low : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// No mask at all.
// CHECK-LABEL: func.func @unmasked
func.func @unmasked(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32> {
  // CHECK: graph.attention none {{.*}} scale 1.000000e+00 {{.*}} -> (tensor<1x3x2x6xf32>, tensor<1x2x3xf64>)
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x5xf32>
  %p = graph.softmax %s : tensor<1x2x3x5xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x5xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
  return %y : tensor<1x2x3x6xf32>
}

// A mask that is not causal stays what it is.
// CHECK-LABEL: func.func @other_mask
func.func @other_mask(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: graph.softmax
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %m = graph.constant dense<[[0.0, -3.4e38, -3.4e38], [0.0, 0.0, -3.4e38], [-3.4e38, 0.0, 0.0]]> : tensor<3x3xf32>
  %mb = graph.broadcast %m : tensor<3x3xf32> -> tensor<1x2x3x3xf32>
  %sm = graph.add %s, %mb : tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}
