// Each named op has its expansion into small ones.
// RUN: xlc-opt %s --decompose-named-ops | FileCheck %s
// CHECK-NOT: graph.{{softmax|gelu|layer_norm|rms_norm|sigmoid|silu|cross_entropy|attention}}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.reduce max %{{.*}} dims [1]
  // CHECK: graph.exp
  // CHECK: graph.reduce sum
  // CHECK: graph.div
  %y = graph.softmax %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gelu
func.func @gelu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: graph.tanh
  // CHECK: graph.erf
  %0 = graph.gelu tanh %x : tensor<4xf32>
  %1 = graph.gelu erf %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.scale %{{.*}} by 1 over 8
  // CHECK: graph.sqrt
  %y, %m, %r = graph.layer_norm %x, %w, %b {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @cross_entropy
func.func @cross_entropy(%x: tensor<4x8xf32>, %l: tensor<4xi64>) -> (tensor<f32>, tensor<i64>) {
  // CHECK: graph.iota dim 1 : tensor<4x8xi64>
  // CHECK: graph.compare ne
  // CHECK: graph.cast %{{.*}} : tensor<4xi1> -> tensor<4xi64>
  %s, %c, %lse = graph.cross_entropy %x, %l ignore -100 : (tensor<4x8xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<i64>, tensor<4xf32>)
  return %s, %c : tensor<f32>, tensor<i64>
}

// Four heads in two groups that share keys and values.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x3x4x8xf32>, %k: tensor<1x3x2x8xf32>, %v: tensor<1x3x2x8xf32>) -> tensor<1x3x4x8xf32> {
  // CHECK: graph.contract "bqgmd,bkgd->bgmqk"
  // CHECK: graph.compare le
  // CHECK: graph.contract "bgmqk,bkge->bqgme"
  %y, %lse = graph.attention causal %q, %k, %v scale 0.5 : (tensor<1x3x4x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>) -> (tensor<1x3x4x8xf32>, tensor<1x4x3xf32>)
  return %y : tensor<1x3x4x8xf32>
}

// A window, and flags that leave a query without keys: minus infinity, and zero before the softmax and after it.
// CHECK-LABEL: func.func @window
func.func @window(%q: tensor<1x3x2x8xf32>, %b: tensor<1x1x1x3xi1>) -> tensor<1x3x2x8xf32> {
  // CHECK: %[[LOW:.*]] = graph.constant dense<0xFF800000> : tensor<f32>
  // CHECK: graph.select
  // CHECK: graph.abs
  // CHECK: graph.compare lt
  // CHECK: %[[MOST:.*]] = graph.reduce max
  // CHECK: graph.compare eq %[[MOST]]
  // CHECK: graph.select
  // CHECK: graph.exp
  // CHECK: graph.select
  %y, %lse = graph.attention none %q, %q, %q bias %b scale 0.5 {window = 2 : i64} : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x1x1x3xi1>) -> (tensor<1x3x2x8xf32>, tensor<1x2x3xf32>)
  return %y : tensor<1x3x2x8xf32>
}

// What forbids is added to the scores, once, whoever of the two forbids.
// CHECK-LABEL: func.func @added
func.func @added(%q: tensor<1x3x2x8xf32>, %b: tensor<1x1x1x3xi1>) -> tensor<1x3x2x8xf32> {
  // CHECK: %[[FLAG:.*]] = graph.select
  // CHECK: graph.compare le
  // CHECK: %[[ADDED:.*]] = graph.select %{{.*}}, %[[FLAG]], %{{.*}}
  // CHECK: graph.add %{{.*}}, %[[ADDED]]
  %y, %lse = graph.attention causal %q, %q, %q bias %b scale 0.5 {added, uniform} : (tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x3x2x8xf32>, tensor<1x1x1x3xi1>) -> (tensor<1x3x2x8xf32>, tensor<1x2x3xf32>)
  return %y : tensor<1x3x2x8xf32>
}

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.scale %{{.*}} by 1 over 8
  // CHECK: graph.sqrt
  %y, %r = graph.rms_norm %x, %w {epsilon = 1.0e-5} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gates
func.func @gates(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-2: graph.exp
  %0 = graph.sigmoid %x : tensor<4xf32>
  %1 = graph.silu %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
