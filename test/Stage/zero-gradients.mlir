// Three stages read a parameter. The first makes its gradient, the second only compares with it and contributes zero, of as
// partial a sum as the other; the third has the gradient of another parameter alone.
// RUN: xlc-opt %s --xlc-insert-zero-gradients | FileCheck %s
// RUN: xlc-opt %s --xlc-insert-zero-gradients --xlc-insert-zero-gradients | FileCheck %s
// CHECK:      func.func @micro_batch
// CHECK-SAME: -> (tensor<4xf32> {dist.partial = #dist.group<tp, [2, 1], []>, graph.grad = "w"}, tensor<4xf32> {graph.grad = "v"}, tensor<4xf32> {dist.partial = #dist.group<tp, [2, 1], []>, graph.grad = "w"})
// CHECK:      %[[ZERO:.*]] = graph.constant {graph.chunk = 1 : i64, graph.role = #graph.role<W>, graph.unit = #graph.unit<"b", 0>} dense<0.000000e+00> : tensor<4xf32>
// CHECK-NOT:  graph.constant
// CHECK:      return %{{.*}}, %{{.*}}, %[[ZERO]]
module attributes {graph.stages = array<i64: 0, 1, 2>} {
func.func @micro_batch(%x: tensor<4xf32> {graph.input = "x"}, %w: tensor<4xf32> {graph.param = "w"},
                       %v: tensor<4xf32> {graph.param = "v"}, %frozen: tensor<4xf32> {graph.param = "frozen"})
    -> (tensor<4xf32> {graph.grad = "w", dist.partial = #dist.group<tp, [2, 1], []>}, tensor<4xf32> {graph.grad = "v"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.add %x, %w {graph.chunk = 0 : i64, graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : tensor<4xf32>
  %1 = graph.compare lt %0, %w {graph.chunk = 1 : i64, graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : tensor<4xf32> -> tensor<4xi1>
  %2 = graph.select %1, %0, %frozen {graph.chunk = 1 : i64, graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : tensor<4xi1>, tensor<4xf32>
  %3 = graph.mul %2, %v {graph.chunk = 2 : i64, graph.role = #graph.role<F>, graph.unit = #graph.unit<"c", 0>} : tensor<4xf32>
  %4 = graph.tanh %3 {graph.chunk = 2 : i64, graph.role = #graph.role<W>, graph.unit = #graph.unit<"c", 0>} : tensor<4xf32>
  %5 = graph.tanh %4 {graph.chunk = 0 : i64, graph.role = #graph.role<W>, graph.unit = #graph.unit<"a", 0>} : tensor<4xf32>
  return %5, %4 : tensor<4xf32>, tensor<4xf32>
}
}
