// Repeated atoms between cuts are layers; constants are copied into each unit that uses them.
// RUN: xlc-opt %s --assign-units | FileCheck %s

// CHECK-LABEL: func.func @layers
func.func @layers(%w0: tensor<4x4xf32> {graph.param = "w0"}, %w1: tensor<4x4xf32> {graph.param = "w1"},
                  %w2: tensor<4x4xf32> {graph.param = "w2"}, %e: tensor<8x4xf32> {graph.param = "e"},
                  %ids: tensor<2xi64> {graph.input = "ids"}) -> tensor<f32> {
  %c = graph.constant dense<0.5> : tensor<f32>
  %half = graph.broadcast %c : tensor<f32> -> tensor<2x4xf32>
  // CHECK-NEXT: graph.gather {{.*}}#graph.unit<"embed", 0>
  %x0 = graph.gather %e, %ids dim 0 : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.constant {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.broadcast {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.mul {{.*}}#graph.unit<"layer", 0>
  // CHECK-NEXT: graph.add {{.*}}#graph.unit<"layer", 0>
  %y0 = graph.contract "ab,bc->ac" %x0, %w0 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h0 = graph.mul %y0, %half : tensor<2x4xf32>
  %x1 = graph.add %x0, %h0 : tensor<2x4xf32>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"layer", 1>
  // CHECK-NEXT: graph.constant {{.*}}#graph.unit<"layer", 1>
  %y1 = graph.contract "ab,bc->ac" %x1, %w1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h1 = graph.mul %y1, %half : tensor<2x4xf32>
  %x2 = graph.add %x1, %h1 : tensor<2x4xf32>
  // CHECK: graph.add {{.*}}#graph.unit<"layer", 2>
  %y2 = graph.contract "ab,bc->ac" %x2, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h2 = graph.mul %y2, %half : tensor<2x4xf32>
  %x3 = graph.add %x2, %h2 : tensor<2x4xf32>
  // CHECK-NEXT: graph.reduce {{.*}}#graph.unit<"head", 0>
  %s = graph.reduce sum %x3 dims [0, 1] : tensor<2x4xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// Layers of different width are not one class: all is one unit.
// CHECK-LABEL: func.func @nothing_repeats
func.func @nothing_repeats(%w0: tensor<4x5xf32> {graph.param = "w0"}, %w1: tensor<5x6xf32> {graph.param = "w1"},
                           %x: tensor<2x4xf32> {graph.input = "x"}) -> tensor<2x6xf32> {
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"model", 0>
  // CHECK-NEXT: graph.contract {{.*}}#graph.unit<"model", 0>
  %y = graph.contract "ab,bc->ac" %x, %w0 : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  %z = graph.contract "ab,bc->ac" %y, %w1 : (tensor<2x5xf32>, tensor<5x6xf32>) -> tensor<2x6xf32>
  return %z : tensor<2x6xf32>
}
