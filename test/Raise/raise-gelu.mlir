// GELU in both forms, however the products are associated; what is nearly GELU is left alone.
// RUN: xlc-opt %s --raise-gelu --cse | FileCheck %s

// CHECK-LABEL: func.func @tanh_form
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @tanh_form(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = graph.gelu tanh %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %a = graph.constant dense<0.044715> : tensor<4xf32>
  %c = graph.constant dense<0.797884583> : tensor<4xf32>
  %h = graph.mul %x, %half : tensor<4xf32>
  %x2 = graph.mul %x, %x : tensor<4xf32>
  %x3 = graph.mul %x2, %x : tensor<4xf32>
  %ax3 = graph.mul %x3, %a : tensor<4xf32>
  %s = graph.add %x, %ax3 : tensor<4xf32>
  %u = graph.mul %s, %c : tensor<4xf32>
  %t = graph.tanh %u : tensor<4xf32>
  %p = graph.add %t, %one : tensor<4xf32>
  %y = graph.mul %h, %p : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @erf_form
func.func @erf_form(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.gelu erf
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %r = graph.constant dense<1.41421354> : tensor<4xf32>
  %u = graph.div %x, %r : tensor<4xf32>
  %e = graph.erf %u : tensor<4xf32>
  %p = graph.add %one, %e : tensor<4xf32>
  %m = graph.mul %x, %p : tensor<4xf32>
  %y = graph.mul %half, %m : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @other_coefficient
func.func @other_coefficient(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.gelu
  %half = graph.constant dense<0.5> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %r = graph.constant dense<1.702> : tensor<4xf32>
  %u = graph.div %x, %r : tensor<4xf32>
  %e = graph.erf %u : tensor<4xf32>
  %p = graph.add %one, %e : tensor<4xf32>
  %m = graph.mul %x, %p : tensor<4xf32>
  %y = graph.mul %half, %m : tensor<4xf32>
  return %y : tensor<4xf32>
}
