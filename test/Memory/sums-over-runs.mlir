// Where runs add to a gradient, its memory holds the sum over runs and is nobody else's: what else needs the value has it
// from a temporary, and each piece of a gradient that is put together is added to.
// RUN: xlc-opt %s --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement | FileCheck %s

// dV and dW are one value, and dU is made of it.
// CHECK-LABEL: func.func private @shared_B(
// CHECK-SAME: %arg0: memref<4x4xf32> {{[^,]*}}, %arg1: memref<4x4xf32> {{[^,]*}}, %arg2: {{[^,]*}}, %arg3: {{[^,]*}}, %arg4:
// CHECK: exec.call @[[PRODUCT:.*]] ins(%arg0, %arg0 : {{.*}}) outs(%[[VALUE:.*]] : memref<4x4xf32>) {{.*}}accumulate [0]
// CHECK: exec.call @{{.*}} ins(%[[VALUE]], %arg1 : {{.*}}) outs(%arg4 : memref<4x4xf32>) {{.*}}accumulate [2]
// CHECK: exec.call @[[COPY:.*]] ins(%[[VALUE]] : memref<4x4xf32>) outs(%arg2 : memref<4x4xf32>) accumulate [2]
// CHECK: exec.call @[[COPY]] ins(%[[VALUE]] : memref<4x4xf32>) outs(%arg3 : memref<4x4xf32>) accumulate [2]

// A run that is alone keeps the value where it is stored.
// CHECK-LABEL: func.func private @shared_once(
// CHECK: exec.call @[[PRODUCT]] ins(%arg0, %arg0 : {{.*}}) outs(%arg2 : memref<4x4xf32>) {{.*}}accumulate [0]
// CHECK: exec.call @{{.*}} ins(%arg2, %arg1 : {{.*}}) outs(%arg4 : memref<4x4xf32>) {{.*}}accumulate [0]

// Two halves of one gradient.
// CHECK-LABEL: func.func private @halves_B(
// CHECK: %[[LEFT:.*]] = exec.view %arg1 from 0 : memref<4x4xf32> -> memref<4x2xf32, strided<[4, 1]>>
// CHECK: exec.call {{.*}} outs(%[[LEFT]] : {{.*}}) accumulate [2]
// CHECK: %[[RIGHT:.*]] = exec.view %arg1 from 2
// CHECK: exec.call {{.*}} outs(%[[RIGHT]] : {{.*}}) accumulate [2]
module attributes {graph.groups = [{kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
sched.bucket @b ["v", "w", "u", "p", "q", "r", "s"] at [0, 16, 32, 48, 64, 80, 96] sizes [16, 16, 16, 16, 16, 16, 16] elements 112 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 2 {
  %x = sched.load micro 0 ["x"] : tensor<4x4xf32>
  sched.run @shared_B #graph.unit<"shared", 0> micro 0 (%x) params ["u"] stores ["v", "w", "u"] accumulate [false, false, false] role <B> : (tensor<4x4xf32>) -> ()
  sched.run @halves_B #graph.unit<"halves", 0> micro 0 (%x) params [] stores ["p"] accumulate [false] role <B> : (tensor<4x4xf32>) -> ()
  %y = sched.load micro 1 ["x"] : tensor<4x4xf32>
  sched.run @shared_B #graph.unit<"shared", 0> micro 1 (%y) params ["u"] stores ["v", "w", "u"] accumulate [true, true, true] role <B> : (tensor<4x4xf32>) -> ()
  sched.run @halves_B #graph.unit<"halves", 0> micro 1 (%y) params [] stores ["p"] accumulate [true] role <B> : (tensor<4x4xf32>) -> ()
  sched.run @shared_once #graph.unit<"once", 0> micro 1 (%y) params ["u"] stores ["q", "r", "s"] accumulate [false, false, false] : (tensor<4x4xf32>) -> ()
}
func.func private @shared_B(%x: tensor<4x4xf32>, %u: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = graph.contract "ab,ac->bc" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.contract "ab,cb->ac" %0, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @shared_once(%x: tensor<4x4xf32>, %u: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = graph.contract "ab,ac->bc" %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.contract "ab,cb->ac" %0, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @halves_B(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.slice %x from [0, 0] by [1, 1] : tensor<4x4xf32> -> tensor<4x2xf32>
  %1 = graph.slice %x from [0, 2] by [1, 1] : tensor<4x4xf32> -> tensor<4x2xf32>
  %2 = graph.exp %0 : tensor<4x2xf32>
  %3 = graph.tanh %1 : tensor<4x2xf32>
  %4 = graph.concat %2, %3 dim 1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
}
