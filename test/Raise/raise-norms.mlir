// Norms are recognised by what they compute; what is nearly one is left alone.
// RUN: xlc-opt %s --raise-norms --cse | FileCheck %s

// As the new exporter writes it: a reciprocal root that multiplies, statistics of [..., 1].
// CHECK-LABEL: func.func @rms_by_reciprocal
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<4xf32>
func.func @rms_by_reciprocal(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}} = graph.rms_norm %[[X]], %[[W]] {epsilon = 1.250000e-01 : f64}
  // CHECK-NEXT: return %[[Y]]
  %xx = graph.mul %x, %x : tensor<2x4xf32>
  %sum = graph.reduce sum %xx dims [1] : tensor<2x4xf32> -> tensor<2xf32>
  %mean = graph.scale %sum by 1 over 4 : tensor<2xf32>
  %rows = graph.reshape %mean : tensor<2xf32> -> tensor<2x1xf32>
  %eps = graph.constant dense<0.125> : tensor<2x1xf32>
  %shifted = graph.add %rows, %eps : tensor<2x1xf32>
  %root = graph.sqrt %shifted : tensor<2x1xf32>
  %one = graph.constant dense<1.0> : tensor<2x1xf32>
  %inverse = graph.div %one, %root : tensor<2x1xf32>
  %along = graph.broadcast %inverse : tensor<2x1xf32> -> tensor<2x4xf32>
  %normal = graph.mul %x, %along : tensor<2x4xf32>
  %wide = graph.broadcast %w : tensor<4xf32> -> tensor<2x4xf32>
  %y = graph.mul %wide, %normal : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// A power of -1/2, the mean as a product, no weight.
// CHECK-LABEL: func.func @rms_by_power
func.func @rms_by_power(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[ONES:.*]] = graph.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK: graph.rms_norm %{{.*}}, %[[ONES]]
  %xx = graph.mul %x, %x : tensor<2x4xf32>
  %sum = graph.reduce sum %xx dims [1] : tensor<2x4xf32> -> tensor<2xf32>
  %quarter = graph.constant dense<0.25> : tensor<2xf32>
  %mean = graph.mul %sum, %quarter : tensor<2xf32>
  %eps = graph.constant dense<0.125> : tensor<2xf32>
  %shifted = graph.add %eps, %mean : tensor<2xf32>
  %half = graph.constant dense<-0.5> : tensor<2xf32>
  %inverse = graph.pow %shifted, %half : tensor<2xf32>
  %rows = graph.reshape %inverse : tensor<2xf32> -> tensor<2x1xf32>
  %along = graph.broadcast %rows : tensor<2x1xf32> -> tensor<2x4xf32>
  %y = graph.mul %along, %x : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Centred first, then divided by the root: layer norm, as the old exporter writes it.
// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
func.func @layer_norm(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.layer_norm %[[X]], %[[W]], %[[B]] {epsilon = 1.250000e-01 : f64}
  // CHECK-NEXT: return %[[Y]]
  %total = graph.reduce sum %x dims [1] : tensor<2x4xf32> -> tensor<2xf32>
  %mean = graph.scale %total by 1 over 4 : tensor<2xf32>
  %means = graph.reshape %mean : tensor<2xf32> -> tensor<2x1xf32>
  %meanx = graph.broadcast %means : tensor<2x1xf32> -> tensor<2x4xf32>
  %c = graph.sub %x, %meanx : tensor<2x4xf32>
  %cc = graph.mul %c, %c : tensor<2x4xf32>
  %sum = graph.reduce sum %cc dims [1] : tensor<2x4xf32> -> tensor<2xf32>
  %variance = graph.scale %sum by 1 over 4 : tensor<2xf32>
  %rows = graph.reshape %variance : tensor<2xf32> -> tensor<2x1xf32>
  %eps = graph.constant dense<0.125> : tensor<2x1xf32>
  %shifted = graph.add %rows, %eps : tensor<2x1xf32>
  %root = graph.sqrt %shifted : tensor<2x1xf32>
  %along = graph.broadcast %root : tensor<2x1xf32> -> tensor<2x4xf32>
  %normal = graph.div %c, %along : tensor<2x4xf32>
  %wide = graph.broadcast %w : tensor<4xf32> -> tensor<2x4xf32>
  %scaled = graph.mul %normal, %wide : tensor<2x4xf32>
  %bias = graph.broadcast %b : tensor<4xf32> -> tensor<2x4xf32>
  %y = graph.add %scaled, %bias : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// The sum of squares is no mean, and the root divides where its reciprocal should multiply.
// CHECK-LABEL: func.func @no_norm
func.func @no_norm(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NOT: graph.rms_norm
  // CHECK: return
  %xx = graph.mul %x, %x : tensor<2x4xf32>
  %sum = graph.reduce sum %xx dims [1] : tensor<2x4xf32> -> tensor<2xf32>
  %rows = graph.reshape %sum : tensor<2xf32> -> tensor<2x1xf32>
  %eps = graph.constant dense<0.125> : tensor<2x1xf32>
  %shifted = graph.add %rows, %eps : tensor<2x1xf32>
  %root = graph.sqrt %shifted : tensor<2x1xf32>
  %along = graph.broadcast %root : tensor<2x1xf32> -> tensor<2x4xf32>
  %y = graph.div %x, %along : tensor<2x4xf32>
  %mean = graph.scale %rows by 1 over 4 : tensor<2x1xf32>
  %more = graph.add %mean, %eps : tensor<2x1xf32>
  %deviation = graph.sqrt %more : tensor<2x1xf32>
  %wide = graph.broadcast %deviation : tensor<2x1xf32> -> tensor<2x4xf32>
  %z = graph.mul %x, %wide : tensor<2x4xf32>
  return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}
