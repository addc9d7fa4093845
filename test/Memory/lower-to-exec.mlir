// From values to memory, for one rank and two micro-batches.
// RUN: xlc-opt %s --xlc-verify-timeline --xlc-form-kernels --xlc-lower-to-exec --xlc-assign-offsets --xlc-verify-placement | FileCheck %s

// Bucket, state and scalars persist. Each micro-batch has activations of its own; the gradient lives from the first store to the update.
// CHECK: exec.program @train stage 0 micro_batches 2
// CHECK: exec.buffer 0 parameters "b" size 512 {{.*}} persistent
// CHECK: exec.buffer 1 optimizer "b/momentum" size 512 {{.*}} persistent
// CHECK: exec.buffer 2 workspace "scalars" size 384 {{.*}} persistent
// CHECK: exec.buffer 3 residuals "x" size 64 {{.*}} live 1 to 2
// CHECK: exec.buffer 4 residuals "layer[0] F/" size 64 {{.*}} live 2 to 5
// CHECK: exec.buffer 5 residuals "layer[0] F/" size 64 {{.*}} live 2 to 5
// CHECK: exec.buffer 6 workspace "layer[0] F/workspace" {{.*}} live 2 to 2
// CHECK: exec.buffer 7 gradients "b/gradient" size 512 {{.*}} live 3 to 11

// x, then the parameter, the activations, the places of loss and count, the workspace.
// CHECK: exec.begin [#exec.place<2 + 320 + 0>]
// CHECK-NEXT: exec.load micro 0 ["x"] to [#exec.place<3 + 0 + 0>]
// CHECK-NEXT: exec.run @layer_F "layer[0] F" micro 0 first true [#exec.place<3 + 0 + 0>, #exec.place<0 + 0 + 0>, #exec.place<4 + 0 + 0>, #exec.place<5 + 0 + 0>, #exec.place<2 + 0 + 0>, #exec.place<2 + 64 + 0>, #exec.place<6 + 0 + 0>]
// What pads the gradient is zeroed once: 16 to 64, and 68 to 128.
// CHECK-NEXT: exec.run @zero_48 "clear padding of b" {{.*}} [#exec.place<7 + 64 + 0>]
// CHECK-NEXT: exec.run @zero_60 "clear padding of b" {{.*}} [#exec.place<7 + 272 + 0>]
// CHECK-NEXT: exec.run @layer_B "layer[0] B" micro 0 first true [#exec.place<4 + 0 + 0>, #exec.place<5 + 0 + 0>, #exec.place<0 + 0 + 0>, #exec.place<7 + 0 + 0>, #exec.place<7 + 256 + 0>,
// CHECK-NEXT: exec.load micro 1
// CHECK-NEXT: exec.run @layer_F "layer[0] F" micro 1 first false [#exec.place<10 +
// CHECK-NEXT: exec.run @layer_B "layer[0] B" micro 1 first false [{{.*}} #exec.place<7 + 0 + 0>, #exec.place<7 + 256 + 0>,
// CHECK-NEXT: exec.run @norm_128 "norm b" {{.*}} [#exec.place<7 + 0 + 512>, #exec.place<2 + 128 + 0>]
// CHECK-NEXT: exec.run @step_scalars "scalars"
// The update writes over what it reads.
// CHECK-NEXT: exec.run @update_0_128 "update b" {{.*}} [#exec.place<0 + 0 + 0>, #exec.place<7 + 0 + 0>, #exec.place<2 + 320 + 0>, #exec.place<1 + 0 + 0>, #exec.place<0 + 0 + 0>, #exec.place<1 + 0 + 0>]

// Loss and count are written by the first micro-batch and added to by the second: 2.
// CHECK-LABEL: func.func private @layer_F(
// CHECK: exec.call @{{.*}} workspace(%arg6 : memref<{{.*}}xi8>) accumulate [0]
// CHECK: exec.call @{{.*}} ins(%arg2 : memref<4x4xf32>) outs(%arg3 : memref<4x4xf32>) accumulate [0]
// CHECK: outs(%arg4 : memref<f32>) accumulate [2]
// CHECK: outs(%arg5 : memref<i64>) accumulate [2]

// Slices are views; the operands of the concat are the halves of its slot, whatever reshapes lie between.
// CHECK-LABEL: func.func private @layer_B(
// CHECK: %[[X:.*]] = exec.view %arg0 from 0 : memref<4x4xf32> -> memref<4x2xf32, strided<[4, 1]>>
// CHECK: %[[L:.*]] = exec.view %[[C:.*]] from 0 : memref<4x4xf32> -> memref<4x2xf32, strided<[4, 1]>>
// CHECK: exec.call @{{.*}} ins(%[[X]] {{.*}} outs(%[[L]]
// CHECK: exec.view %arg1 from 2
// CHECK: %[[R:.*]] = exec.view %[[C]] from 2 : memref<4x4xf32> -> memref<4x2xf32, strided<[4, 1]>>
// CHECK: outs(%[[R]]
// CHECK: exec.call @{{.*}} ins(%[[C]], %arg2 {{.*}} outs(%arg3 {{.*}} accumulate [2]
// CHECK: exec.call @{{.*}} ins(%[[C]] : {{.*}} outs(%arg4 {{.*}} accumulate [2]
module attributes {graph.groups = [{kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.9 : f64}]} {
sched.bucket @b ["w", "v"] at [0, 64] sizes [16, 4] elements 128 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 2 {
  %x = sched.load micro 0 ["x"] : tensor<4x4xf32>
  %y, %r = sched.run @layer_F #graph.unit<"layer", 0> micro 0 (%x) params ["w"] stores ["@loss_sum", "@loss_count"] accumulate [false, false] : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  sched.run @layer_B #graph.unit<"layer", 0> micro 0 (%y, %r) params ["w"] stores ["w", "v"] accumulate [false, false] role <B> : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
  %x1 = sched.load micro 1 ["x"] : tensor<4x4xf32>
  %y1, %r1 = sched.run @layer_F #graph.unit<"layer", 0> micro 1 (%x1) params ["w"] stores ["@loss_sum", "@loss_count"] accumulate [true, true] : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  sched.run @layer_B #graph.unit<"layer", 0> micro 1 (%y1, %r1) params ["w"] stores ["w", "v"] accumulate [true, true] role <B> : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
  sched.norm @b copies 1 accumulate false
  sched.scalars @scalars
  sched.update @b
}
func.func private @layer_F(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<i64>) {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.tanh %0 : tensor<4x4xf32>
  %2 = graph.reduce sum %1 dims [0, 1] : tensor<4x4xf32> -> tensor<f32>
  %3 = graph.constant dense<4> : tensor<i64>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<i64>
}
func.func private @layer_B(%x: tensor<4x4xf32>, %r: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %0 = graph.slice %x from [0, 0] by [1, 1] : tensor<4x4xf32> -> tensor<4x2xf32>
  %1 = graph.slice %r from [0, 2] by [1, 1] : tensor<4x4xf32> -> tensor<4x2xf32>
  %2 = graph.exp %0 : tensor<4x2xf32>
  %3 = graph.tanh %1 : tensor<4x2xf32>
  %flat = graph.reshape %2 : tensor<4x2xf32> -> tensor<8xf32>
  %back = graph.reshape %flat : tensor<8xf32> -> tensor<4x2xf32>
  %4 = graph.concat %back, %3 dim 1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %5 = graph.contract "ba,bc->ac" %4, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = graph.reduce sum %4 dims [0] : tensor<4x4xf32> -> tensor<4xf32>
  return %5, %6 : tensor<4x4xf32>, tensor<4xf32>
}
func.func @scalars(%sum: tensor<f32>, %count: tensor<i64>, %squares: tensor<f64>, %applied: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  return %sum, %sum, %sum, %applied : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
}
