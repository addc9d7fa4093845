// Values that cross every layer hinder no cuts: what an encoder made, what is computed once from parameters.
// RUN: xlc-opt %s --assign-units | FileCheck %s

// Each layer reads %memory beside the stream.
// CHECK-LABEL: func.func @decoder
func.func @decoder(%w0: tensor<4x4xf32> {graph.param = "w0"}, %w1: tensor<4x4xf32> {graph.param = "w1"},
                   %w2: tensor<4x4xf32> {graph.param = "w2"}, %e: tensor<8x4xf32> {graph.param = "e"},
                   %ids: tensor<2xi64> {graph.input = "ids"}) -> tensor<f32> {
  // CHECK-NEXT: graph.gather {{.*}}#graph.unit<"embed", 0>
  // CHECK-NEXT: %[[MEMORY:.*]] = graph.tanh {{.*}}#graph.unit<"embed", 0>
  // CHECK-NEXT: graph.neg {{.*}}#graph.unit<"embed", 0>
  %x = graph.gather %e, %ids dim 0 : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %memory = graph.tanh %x : tensor<2x4xf32>
  %x0 = graph.neg %memory : tensor<2x4xf32>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.mul %{{.*}}, %[[MEMORY]] {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.add {{.*}}#graph.unit<"layer", 0>
  %y0 = graph.contract "ab,bc->ac" %x0, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z0 = graph.mul %y0, %memory : tensor<2x4xf32>
  %x1 = graph.add %x0, %z0 : tensor<2x4xf32>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"layer", 1>
  %y1 = graph.contract "ab,bc->ac" %x1, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z1 = graph.mul %y1, %memory : tensor<2x4xf32>
  %x2 = graph.add %x1, %z1 : tensor<2x4xf32>
  // CHECK: graph.add {{.*}}#graph.unit<"layer", 2>
  %y2 = graph.contract "ab,bc->ac" %x2, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z2 = graph.mul %y2, %memory : tensor<2x4xf32>
  %x3 = graph.add %x2, %z2 : tensor<2x4xf32>
  // CHECK-NEXT: graph.reduce {{.*}}#graph.unit<"head", 0>
  %s = graph.reduce sum %x3 dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// A parameter's tanh is computed once, by the unit before the layers; the constant beside it is copied.
// CHECK-LABEL: func.func @shared_table
func.func @shared_table(%w0: tensor<4x4xf32> {graph.param = "w0"}, %w1: tensor<4x4xf32> {graph.param = "w1"},
                        %t: tensor<2x4xf32> {graph.param = "t"}, %e: tensor<8x4xf32> {graph.param = "e"},
                        %ids: tensor<2xi64> {graph.input = "ids"}) -> tensor<f32> {
  // CHECK-NEXT: %[[TABLE:.*]] = graph.tanh %{{.*}} {graph.unit = #graph.unit<"embed", 0>}
  // CHECK-NEXT: graph.gather {{.*}}#graph.unit<"embed", 0>
  %table = graph.tanh %t : tensor<2x4xf32>
  %c = graph.constant dense<0.5> : tensor<f32>
  %half = graph.broadcast %c : tensor<f32> -> tensor<2x4xf32>
  %x0 = graph.gather %e, %ids dim 0 : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  // CHECK: graph.constant {{.*}}#graph.unit<"layer", 0>
  // CHECK: graph.mul %{{.*}}, %[[TABLE]] {{.*}}#graph.unit<"layer", 0>
  %y0 = graph.contract "ab,bc->ac" %x0, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h0 = graph.mul %y0, %half : tensor<2x4xf32>
  %x1 = graph.mul %h0, %table : tensor<2x4xf32>
  // CHECK: graph.constant {{.*}}#graph.unit<"layer", 1>
  // CHECK: graph.mul %{{.*}}, %[[TABLE]] {{.*}}#graph.unit<"layer", 1>
  // CHECK-NOT: graph.tanh
  %y1 = graph.contract "ab,bc->ac" %x1, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h1 = graph.mul %y1, %half : tensor<2x4xf32>
  %x2 = graph.mul %h1, %table : tensor<2x4xf32>
  %s = graph.reduce sum %x2 dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// The first layer's input is the layer's own, and is read once more behind it: the layer stands apart from its equals, and
// is still one of them.
// CHECK-LABEL: func.func @first_layer_apart
func.func @first_layer_apart(%w0: tensor<4x4xf32> {graph.param = "w0"}, %w1: tensor<4x4xf32> {graph.param = "w1"},
                             %w2: tensor<4x4xf32> {graph.param = "w2"}, %e: tensor<8x4xf32> {graph.param = "e"},
                             %ids: tensor<2xi64> {graph.input = "ids"}) -> tensor<f32> {
  // CHECK-NEXT: graph.gather {{.*}}#graph.unit<"embed", 0>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.tanh {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.add {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.neg {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.sub {{.*}}#graph.unit<"middle", 0>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"layer", 1>
  // CHECK-NEXT: graph.tanh {{.*}}#graph.unit<"layer", 1>
  // CHECK-NEXT: graph.add {{.*}}#graph.unit<"layer", 1>
  // CHECK-NEXT: graph.neg {{.*}}#graph.unit<"layer", 1>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"layer", 2>
  %x0 = graph.gather %e, %ids dim 0 : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %y0 = graph.contract "ab,bc->ac" %x0, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t0 = graph.tanh %y0 : tensor<2x4xf32>
  %r0 = graph.add %t0, %x0 : tensor<2x4xf32>
  %x1 = graph.neg %r0 : tensor<2x4xf32>
  %d = graph.sub %x1, %x0 : tensor<2x4xf32>
  %y1 = graph.contract "ab,bc->ac" %d, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t1 = graph.tanh %y1 : tensor<2x4xf32>
  %r1 = graph.add %t1, %d : tensor<2x4xf32>
  %x2 = graph.neg %r1 : tensor<2x4xf32>
  %y2 = graph.contract "ab,bc->ac" %x2, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %t2 = graph.tanh %y2 : tensor<2x4xf32>
  %r2 = graph.add %t2, %x2 : tensor<2x4xf32>
  %x3 = graph.neg %r2 : tensor<2x4xf32>
  %s = graph.reduce sum %x3 dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %s : tensor<f32>
}
