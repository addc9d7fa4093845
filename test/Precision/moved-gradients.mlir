// The gradient of w is that of w + b a, moved, and is multiplied for those of a and b (as in a merged LoRA): it adds up as it
// is, and is rounded for the product alone.
// RUN: xlc-opt %s --xlc-insert-casts --xlc-verify-precision | FileCheck %s
// CHECK: %[[D:.*]] = graph.contract "ab,ac->bc" {{.*}} -> tensor<4x4xf32>
// CHECK: %[[M:.*]] = graph.transpose %[[D]] [1, 0] {{.*}} : tensor<4x4xf32>
// CHECK: %[[N:.*]] = graph.cast %[[M]] {{.*}} : tensor<4x4xf32> -> tensor<4x4xbf16>
// CHECK: %[[DA:.*]] = graph.contract "ab,ac->bc" %{{.*}}, %[[N]]
// CHECK: return %{{.*}}, %[[DA]], %[[M]]
func.func @micro_batch(%b: tensor<4x4xf32> {graph.param = "b"}, %w: tensor<4x4xf32> {graph.param = "w"}, %x: tensor<4x4xf32> {graph.input = "x"})
    -> (tensor<f32>, tensor<4x4xf32> {graph.grad = "a"}, tensor<4x4xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ab,bc->ac" %x, %w {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = graph.reduce sum %y dims [0, 1] {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : tensor<4x4xf32> -> tensor<f32>
  %one = graph.constant {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} dense<1.0> : tensor<4x4xf32>
  %d = graph.contract "ab,ac->bc" %x, %one {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = graph.transpose %d [1, 0] {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
  %da = graph.contract "ab,ac->bc" %b, %m {graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %sum, %da, %m : tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @update(%b: tensor<4x4xf32> {graph.param = "b"}, %w: tensor<4x4xf32> {graph.param = "w"}) {
  return
}
