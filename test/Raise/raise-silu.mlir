// The logistic function and its product with x, so that backward keeps one tensor.
// RUN: xlc-opt %s --raise-silu --cse | FileCheck %s

// CHECK-LABEL: func.func @silu
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.silu %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %n = graph.neg %x : tensor<4xf32>
  %e = graph.exp %n : tensor<4xf32>
  %d = graph.add %one, %e : tensor<4xf32>
  %s = graph.div %one, %d : tensor<4xf32>
  %y = graph.mul %x, %s : tensor<4xf32>
  return %y : tensor<4xf32>
}

// The gate is another tensor: the logistic function alone.
// CHECK-LABEL: func.func @gate
func.func @gate(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.sigmoid
  // CHECK-NEXT: graph.mul
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %n = graph.neg %g : tensor<4xf32>
  %e = graph.exp %n : tensor<4xf32>
  %d = graph.add %e, %one : tensor<4xf32>
  %s = graph.div %one, %d : tensor<4xf32>
  %y = graph.mul %x, %s : tensor<4xf32>
  return %y : tensor<4xf32>
}

// x / (1 + e^-2x) = silu(2x) / 2.
// CHECK-LABEL: func.func @quick
func.func @quick(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[TWO:.*]] = graph.constant dense<2.000000e+00> : tensor<f32>
  // CHECK: %[[XX:.*]] = graph.mul %{{.*}}, %{{.*}}
  // CHECK: %[[S:.*]] = graph.silu %[[XX]]
  // CHECK: graph.constant dense<5.000000e-01> : tensor<f32>
  // CHECK: graph.mul %[[S]]
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %c = graph.mul %x, %two : tensor<4xf32>
  %n = graph.neg %c : tensor<4xf32>
  %e = graph.exp %n : tensor<4xf32>
  %d = graph.add %one, %e : tensor<4xf32>
  %s = graph.div %one, %d : tensor<4xf32>
  %y = graph.mul %s, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// 1 / (2 + e^-x) is something else.
// CHECK-LABEL: func.func @other
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.s{{ilu|igmoid}}
  // CHECK: return
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %n = graph.neg %x : tensor<4xf32>
  %e = graph.exp %n : tensor<4xf32>
  %d = graph.add %two, %e : tensor<4xf32>
  %s = graph.div %one, %d : tensor<4xf32>
  return %s : tensor<4xf32>
}

// As a node Sigmoid is imported.
// CHECK-LABEL: func.func @named
func.func @named(%x: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = graph.silu %arg0
  // CHECK: %[[XX:.*]] = graph.mul %arg1
  // CHECK: %[[S:.*]] = graph.silu %[[XX]]
  // CHECK: %[[HALF:.*]] = graph.mul %[[S]]
  // CHECK: return %[[Y]], %[[HALF]]
  %s = graph.sigmoid %x : tensor<4xf32>
  %y = graph.mul %x, %s : tensor<4xf32>
  %two = graph.constant dense<2.0> : tensor<4xf32>
  %c = graph.mul %g, %two : tensor<4xf32>
  %t = graph.sigmoid %c : tensor<4xf32>
  %z = graph.mul %t, %g : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
