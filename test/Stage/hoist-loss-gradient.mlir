// RUN: xlc-opt %s --split-input-file --xlc-hoist-loss-gradient | FileCheck %s

// The gradient of the logits runs in forward, its scalars before the first op of the unit, and with it the rounding that
// backward's products ask for. What backward reads of forward for itself stays there.
// CHECK-LABEL: @micro_batch
// CHECK-NEXT:  %[[ONE:.*]] = graph.constant {graph.role = #graph.role<F>
// CHECK-NEXT:  %[[SEED:.*]] = graph.scale %[[ONE]] by 1 over 4 {graph.role = #graph.role<F>
// CHECK-NEXT:  %[[LOGITS:.*]] = graph.contract
// CHECK:       graph.cross_entropy
// CHECK-NEXT:  %[[D:.*]] = graph.cross_entropy_backward %[[WIDE:.*]], %{{.*}}, %{{.*}}, %[[SEED]] {graph.role = #graph.role<F>
// CHECK-NEXT:  %[[NARROW:.*]] = graph.cast %[[D]] {graph.role = #graph.role<F>
// CHECK:       graph.contract "ac,cb->ab" %[[NARROW]], %{{.*}} {graph.role = #graph.role<I>
// CHECK-NEXT:  graph.cast %arg1 {graph.role = #graph.role<I>
func.func @micro_batch(%w: tensor<9x8xbf16> {graph.param = "w"}, %x: tensor<4x8xbf16> {graph.input = "x"}, %labels: tensor<4xi64> {graph.input = "labels"})
    -> (tensor<f32>, tensor<i64>, tensor<4x8xbf16>, tensor<4x8xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ab,cb->ac" %x, %w {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : (tensor<4x8xbf16>, tensor<9x8xbf16>) -> tensor<4x9xbf16>
  %wide = graph.cast %y {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : tensor<4x9xbf16> -> tensor<4x9xf32>
  %sum, %count, %lse = graph.cross_entropy %wide, %labels {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : (tensor<4x9xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<i64>, tensor<4xf64>)
  %one = graph.constant {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} dense<1.0> : tensor<f32>
  %seed = graph.scale %one by 1 over 4 {graph.role = #graph.role<I>, graph.seed, graph.unit = #graph.unit<"head", 0>} : tensor<f32>
  %d = graph.cross_entropy_backward %wide, %labels, %lse, %seed {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : (tensor<4x9xf32>, tensor<4xi64>, tensor<4xf64>, tensor<f32>) -> tensor<4x9xf32>
  %narrow = graph.cast %d {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : tensor<4x9xf32> -> tensor<4x9xbf16>
  %dx = graph.contract "ac,cb->ab" %narrow, %w {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : (tensor<4x9xbf16>, tensor<9x8xbf16>) -> tensor<4x8xbf16>
  %own = graph.cast %x {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : tensor<4x8xbf16> -> tensor<4x8xf32>
  return %sum, %count, %dx, %own : tensor<f32>, tensor<i64>, tensor<4x8xbf16>, tensor<4x8xf32>
}

// -----

// Forward would keep sixteen elements for backward instead of four: the gradient of a mean over rows stays in backward.
// CHECK-LABEL: @micro_batch
// CHECK:       graph.scale {{.*}} {graph.role = #graph.role<I>, graph.seed
// CHECK:       graph.broadcast {{.*}} {graph.role = #graph.role<I>
// CHECK:       graph.mul {{.*}} {graph.role = #graph.role<I>
func.func @micro_batch(%w: tensor<4xf32> {graph.param = "w"}, %x: tensor<4x4xf32> {graph.input = "x"}) -> (tensor<f32>, tensor<4x4xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %p = graph.add %w, %w {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : tensor<4xf32>
  %sum = graph.reduce sum %p dims [0] {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : tensor<4xf32> -> tensor<f32>
  %one = graph.constant {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} dense<1.0> : tensor<4xf32>
  %seed = graph.scale %one by 1 over 4 {graph.role = #graph.role<I>, graph.seed, graph.unit = #graph.unit<"head", 0>} : tensor<4xf32>
  %dp = graph.mul %seed, %p {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : tensor<4xf32>
  %rows = graph.broadcast %dp {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : tensor<4xf32> -> tensor<4x4xf32>
  %dx = graph.mul %rows, %x {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : tensor<4x4xf32>
  %other = graph.contract "ab,bc->ac" %dx, %x {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %sum, %other : tensor<f32>, tensor<4x4xf32>
}

// -----

// The loss of a product that tp splits is written in small ops; what backward makes again of the logits, forward has made.
// CHECK-LABEL: @micro_batch
// CHECK:       graph.contract
// CHECK-NEXT:  %[[POWER:.*]] = graph.exp
// CHECK-NOT:   graph.exp
// CHECK:       graph.mul %{{.*}}, %[[POWER]] {graph.role = #graph.role<F>
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<4x8xf32> {graph.input = "x"}) -> (tensor<f32>, tensor<4x8xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ab,cb->ac" %x, %w {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : (tensor<4x8xf32>, tensor<9x8xf32>) -> tensor<4x9xf32>
  %power = graph.exp %y {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : tensor<4x9xf32>
  %sum = graph.reduce sum %power dims [0, 1] {graph.role = #graph.role<F>, graph.unit = #graph.unit<"head", 0>} : tensor<4x9xf32> -> tensor<f32>
  %one = graph.constant {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} dense<1.0> : tensor<4x9xf32>
  %seed = graph.scale %one by 1 over 4 {graph.role = #graph.role<I>, graph.seed, graph.unit = #graph.unit<"head", 0>} : tensor<4x9xf32>
  %again = graph.exp %y {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : tensor<4x9xf32>
  %d = graph.mul %seed, %again {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : tensor<4x9xf32>
  %dx = graph.contract "ac,cb->ab" %d, %w {graph.role = #graph.role<I>, graph.unit = #graph.unit<"head", 0>} : (tensor<4x9xf32>, tensor<9x8xf32>) -> tensor<4x8xf32>
  return %sum, %dx : tensor<f32>, tensor<4x8xf32>
}
