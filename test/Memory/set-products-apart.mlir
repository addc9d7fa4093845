// A product that is stored as it is comes last, with the view that stores it, and runs apart. A sum is no product; what is read again, or passed on to
// others too, stays. Where nothing else is left, nothing is apart.
// RUN: xlc-opt %s --xlc-set-products-apart | FileCheck %s
// RUN: xlc-opt %s --xlc-set-products-apart --xlc-lower-to-exec | FileCheck %s --check-prefix=EXEC

// CHECK-LABEL: func.func private @layer_B
// CHECK-SAME: attributes {exec.apart = 2 : i64}
// CHECK-NEXT: %[[DX:.*]] = call @product
// CHECK-NEXT: %[[READ:.*]] = call @product
// CHECK-NEXT: call @product(%[[READ]]
// CHECK-NEXT: call @sum
// CHECK-NEXT: call @product
// CHECK-NEXT: call @product
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return

// EXEC-LABEL: func.func private @layer_B(
// EXEC-COUNT-4: exec.call
// EXEC-NEXT: return
// EXEC: func.func private @layer_B_weights(%{{.*}}: memref<4x4xf32> {{.*}}, %{{.*}}: memref<4x4xf32> {{.*}}, %{{.*}}: memref<4x4xf32> {{.*}}, %{{.*}}: memref<16xf32> {{.*}}, %{{.*}}: memref<576xi8> {exec.name = "workspace"})
// EXEC-COUNT-2: exec.call @product
// EXEC-NEXT: return
// EXEC: exec.run @layer_B "layer[0] B" {{.*}} role <B>
// EXEC-NEXT: exec.run @layer_B_weights "layer[0] W" {{.*}} role <W>

// CHECK-LABEL: func.func private @embed_B
// CHECK-NOT: exec.apart
// CHECK: call @product
// EXEC: exec.run @embed_B "embed[0] B" {{.*}} role <B>
// EXEC-NOT: embed_B_weights

module attributes {graph.groups = [{kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.9 : f64}]} {
func.func private @product(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "ab,bc->ac" %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func private @sum(%a: tensor<4x4xf32>) -> tensor<4xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %a dims [0] : tensor<4x4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @layer_B(%x: tensor<4x4xf32>, %dy: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<16xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %dw = call @product(%x, %dy) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx = call @product(%dy, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dv = call @product(%dy, %dy) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %flat = graph.reshape %dv : tensor<4x4xf32> -> tensor<16xf32>
  %read = call @product(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %du = call @product(%read, %dy) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %db = call @sum(%du) : (tensor<4x4xf32>) -> tensor<4xf32>
  return %dx, %dw, %flat, %du, %db : tensor<4x4xf32>, tensor<4x4xf32>, tensor<16xf32>, tensor<4x4xf32>, tensor<4xf32>
}
func.func private @embed_B(%x: tensor<4x4xf32>, %dy: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %dw = call @product(%x, %dy) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %dw : tensor<4x4xf32>
}
sched.bucket @b ["w", "v", "u", "b", "e"] at [0, 64, 128, 192, 256] sizes [16, 16, 16, 4, 16] elements 320 group 0 params whole grads whole states whole
sched.timeline @train stage 0 micro_batches 1 {
  %0:2 = sched.load micro 0 ["x", "dy"] : tensor<4x4xf32>, tensor<4x4xf32>
  %1 = sched.run @layer_B #graph.unit<"layer", 0> micro 0 (%0#0, %0#1) params [] stores ["w", "v", "u", "b"] accumulate [false, false, false, false] role <B> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  sched.run @embed_B #graph.unit<"embed", 0> micro 0 (%0#0, %1) params [] stores ["e"] accumulate [false] role <B> : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
}
}
