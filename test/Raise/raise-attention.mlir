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

// A known mask that does not go by distance is the op's bias, as large as it is.
// CHECK-LABEL: func.func @other_mask
func.func @other_mask(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK: %[[M:.*]] = graph.constant
  // CHECK: %[[B:.*]] = graph.reshape %[[M]] : tensor<3x3xf32> -> tensor<1x1x3x3xf32>
  // CHECK: graph.attention none %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] scale 1.000000e+00 {added} :
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %m = graph.constant dense<[[0.0, -3.4e38, -3.4e38], [0.0, 0.0, -3.4e38], [0.0, -3.4e38, 0.0]]> : tensor<3x3xf32>
  %mb = graph.broadcast %m : tensor<3x3xf32> -> tensor<1x2x3x3xf32>
  %sm = graph.add %s, %mb : tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// Keys at most one away, once also in the past only.
// CHECK-LABEL: func.func @window
func.func @window(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) {
  // CHECK: graph.attention none {{.*}} {window = 2 : i64}
  // CHECK: graph.attention causal {{.*}} {window = 2 : i64}
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %m = graph.constant dense<[[0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0], [-1.0e9, 0.0, 0.0]]> : tensor<3x3xf32>
  %mb = graph.broadcast %m : tensor<3x3xf32> -> tensor<1x2x3x3xf32>
  %near = graph.add %mb, %s : tensor<1x2x3x3xf32>
  %p = graph.softmax %near : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %c = graph.constant dense<[[false, true, true], [false, false, true], [false, false, false]]> : tensor<3x3xi1>
  %cb = graph.broadcast %c : tensor<3x3xi1> -> tensor<1x2x3x3xi1>
  %low = graph.constant dense<0xFF800000> : tensor<1x2x3x3xf32>
  %past = graph.select %cb, %low, %near : tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>
  %p2 = graph.softmax %past : tensor<1x2x3x3xf32>
  %z = graph.contract "abxy,abyz->abxz" %p2, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y, %z : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
}

// Causal and padding joined: the known half is the op's mask, the other its bias, one flag per key. -3.4e38 absorbs
// every score, so a query without keys attends to all alike; it is added, so gradients reach those scores.
// CHECK-LABEL: func.func @padding
// CHECK-SAME: %[[PAD:[^,]*]]: tensor<2x3xi1>
func.func @padding(%pad: tensor<2x3xi1>, %q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: %[[B:.*]] = graph.reshape %[[PAD]] : tensor<2x3xi1> -> tensor<2x1x1x3xi1>
  // CHECK: graph.attention causal %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] scale 5.000000e-01 {added, uniform}
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %c = graph.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %cb = graph.broadcast %c : tensor<3x3xi1> -> tensor<2x1x3x3xi1>
  %rows = graph.reshape %pad : tensor<2x3xi1> -> tensor<2x1x1x3xi1>
  %padb = graph.broadcast %rows : tensor<2x1x1x3xi1> -> tensor<2x1x3x3xi1>
  %both = graph.and %cb, %padb : tensor<2x1x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<2x1x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x1x3x3xf32>
  %m = graph.select %both, %zero, %low : tensor<2x1x3x3xi1>, tensor<2x1x3x3xf32>
  %mb = graph.broadcast %m : tensor<2x1x3x3xf32> -> tensor<2x2x3x3xf32>
  %sm = graph.add %s, %mb : tensor<2x2x3x3xf32>
  %half = graph.constant dense<0.5> : tensor<2x2x3x3xf32>
  %scaled = graph.mul %sm, %half : tensor<2x2x3x3xf32>
  %p = graph.softmax %scaled : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// (1 - mask) * -10000 of numbers that come with the batch: what is added stays what it is, per key.
// CHECK-LABEL: func.func @added
func.func @added(%pad: tensor<2x1x1x3xf32>, %q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: %[[D:.*]] = graph.sub
  // CHECK: %[[B:.*]] = graph.mul %[[D]], %{{.*}} : tensor<2x1x1x3xf32>
  // CHECK: graph.attention none %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] scale
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %one = graph.constant dense<1.0> : tensor<2x1x1x3xf32>
  %low = graph.constant dense<-1.0e4> : tensor<2x1x1x3xf32>
  %d = graph.sub %one, %pad : tensor<2x1x1x3xf32>
  %m = graph.mul %d, %low : tensor<2x1x1x3xf32>
  %mb = graph.broadcast %m : tensor<2x1x1x3xf32> -> tensor<2x2x3x3xf32>
  %sm = graph.add %s, %mb : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %v : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// Two groups of keys for four heads: repeated by a broadcast, values by a gather.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: %[[Q:.*]]: tensor<2x5x4x6xf32>, %[[K:.*]]: tensor<2x5x2x6xf32>, %[[V:.*]]: tensor<2x5x2x6xf32>
func.func @grouped(%q: tensor<2x5x4x6xf32>, %k: tensor<2x5x2x6xf32>, %v: tensor<2x5x2x6xf32>) -> tensor<2x5x4x6xf32> {
  // CHECK-NEXT: %[[OUT:.*]], %{{.*}} = graph.attention none %[[Q]], %[[K]], %[[V]] scale
  // CHECK-NEXT: return %[[OUT]]
  %qt = graph.transpose %q [0, 2, 1, 3] : tensor<2x5x4x6xf32> -> tensor<2x4x5x6xf32>
  %kt = graph.transpose %k [0, 2, 1, 3] : tensor<2x5x2x6xf32> -> tensor<2x2x5x6xf32>
  %k1 = graph.reshape %kt : tensor<2x2x5x6xf32> -> tensor<2x2x1x5x6xf32>
  %k2 = graph.broadcast %k1 : tensor<2x2x1x5x6xf32> -> tensor<2x2x2x5x6xf32>
  %k4 = graph.reshape %k2 : tensor<2x2x2x5x6xf32> -> tensor<2x4x5x6xf32>
  %i = graph.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %v4 = graph.gather %v, %i dim 2 : (tensor<2x5x2x6xf32>, tensor<4xi64>) -> tensor<2x5x4x6xf32>
  %s = graph.contract "abxy,abzy->abxz" %qt, %k4 : (tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x5x5xf32>
  %p = graph.softmax %s : tensor<2x4x5x5xf32>
  %y = graph.contract "abxy,aybz->axbz" %p, %v4 : (tensor<2x4x5x5xf32>, tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  return %y : tensor<2x5x4x6xf32>
}

// Keys one set after the other (concat): heads are put in groups, and their results back.
// CHECK-LABEL: func.func @tiled
func.func @tiled(%q: tensor<2x5x4x6xf32>, %k: tensor<2x5x2x6xf32>) -> tensor<2x5x4x6xf32> {
  // CHECK: graph.transpose %{{.*}} : tensor<2x5x2x2x6xf32> -> tensor<2x5x2x2x6xf32>
  // CHECK: graph.attention none {{.*}} (tensor<2x5x4x6xf32>, tensor<2x5x2x6xf32>, tensor<2x5x2x6xf32>)
  // CHECK: graph.transpose %{{.*}} : tensor<2x5x2x2x6xf32> -> tensor<2x5x2x2x6xf32>
  %k4 = graph.concat %k, %k dim 2 : (tensor<2x5x2x6xf32>, tensor<2x5x2x6xf32>) -> tensor<2x5x4x6xf32>
  %s = graph.contract "axby,azby->abxz" %q, %k4 : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>) -> tensor<2x4x5x5xf32>
  %p = graph.softmax %s : tensor<2x4x5x5xf32>
  %y = graph.contract "abxy,aybz->axbz" %p, %k4 : (tensor<2x4x5x5xf32>, tensor<2x5x4x6xf32>) -> tensor<2x5x4x6xf32>
  return %y : tensor<2x5x4x6xf32>
}

// Batch and heads flattened around both products, and unflattened to add a mask; three queries ask five keys.
// CHECK-LABEL: func.func @flattened
// CHECK-SAME: %[[PAD:[^:]*]]: tensor<2x1x1x5xi1>, %[[Q:.*]]: tensor<2x4x3x6xf32>
func.func @flattened(%pad: tensor<2x1x1x5xi1>, %q: tensor<2x4x3x6xf32>, %k: tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  // CHECK: %[[QT:.*]] = graph.transpose %[[Q]] [0, 2, 1, 3]
  // CHECK: graph.attention none %[[QT]], %{{.*}}, %{{.*}} bias %[[PAD]] scale 1.000000e+00 :
  %qf = graph.reshape %q : tensor<2x4x3x6xf32> -> tensor<8x3x6xf32>
  %kf = graph.reshape %k : tensor<2x4x5x6xf32> -> tensor<8x5x6xf32>
  %s = graph.contract "axy,azy->axz" %qf, %kf : (tensor<8x3x6xf32>, tensor<8x5x6xf32>) -> tensor<8x3x5xf32>
  %s4 = graph.reshape %s : tensor<8x3x5xf32> -> tensor<2x4x3x5xf32>
  %mask = graph.broadcast %pad : tensor<2x1x1x5xi1> -> tensor<2x4x3x5xi1>
  %low = graph.constant dense<0xFF800000> : tensor<2x4x3x5xf32>
  %sm = graph.select %mask, %s4, %low : tensor<2x4x3x5xi1>, tensor<2x4x3x5xf32>
  %s3 = graph.reshape %sm : tensor<2x4x3x5xf32> -> tensor<8x3x5xf32>
  %p = graph.softmax %s3 : tensor<8x3x5xf32>
  %y = graph.contract "axy,ayz->axz" %p, %kf : (tensor<8x3x5xf32>, tensor<8x5x6xf32>) -> tensor<8x3x6xf32>
  %r = graph.reshape %y : tensor<8x3x6xf32> -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// A learned bias needs a gradient of the size of the scores.
// CHECK-LABEL: func.func @learned
func.func @learned(%bias: tensor<2x3x3xf32> {graph.param = "bias"}, %q: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  // CHECK-NOT: graph.attention
  // CHECK: graph.softmax
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %mb = graph.broadcast %bias : tensor<2x3x3xf32> -> tensor<1x2x3x3xf32>
  %sm = graph.add %s, %mb : tensor<1x2x3x3xf32>
  %p = graph.softmax %sm : tensor<1x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}
