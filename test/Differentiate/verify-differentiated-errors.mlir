// The gate of Differentiate.
// RUN: xlc-opt %s --xlc-verify-differentiated --split-input-file --verify-diagnostics

// expected-error @+1 {{gate of Differentiate: there is no training entry}}
module {
}

// -----

// A frozen parameter needs no gradient, another does.
// expected-error @+1 {{the loss does not depend on parameter 'w'; exclude the parameter with trainable: ["*", "!w"]}}
func.func @micro_batch(%v: tensor<2xf32> {graph.param = "v", graph.frozen}, %w: tensor<2xf32> {graph.param = "w"}, %x: tensor<f32> {graph.input = "x"}) -> tensor<f32> attributes {graph.entry = #graph.purpose<train>} {
  return %x : tensor<f32>
}

// -----

// What has no gradient stands between: a straight-through value that was lost.
// expected-error @+1 {{the loss depends on parameter 'w' only through sign at 'quantise', which has no gradient; if the model defines a gradient there, as in w + (sign(w) - w).detach(), the exporter removed this gradient: export with optimize=False or with xlc_export; otherwise exclude the parameter with trainable: ["*", "!w"]}}
func.func @micro_batch(%w: tensor<f32> {graph.param = "w"}) -> tensor<f32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %w {graph.role = #graph.role<F>} : tensor<f32>
  %1 = graph.sign %0 {graph.role = #graph.role<F>} : tensor<f32> loc("quantise")
  return %1 : tensor<f32>
}

// -----

func.func @micro_batch(%x: tensor<f32> {graph.input = "x"}) -> tensor<f32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Differentiate: op has no role}}
  %0 = graph.tanh %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @micro_batch(%x: tensor<f32> {graph.input = "x"}) -> tensor<f32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Differentiate: stop_gradient ops must be removed after differentiation}}
  %0 = graph.stop_gradient %x {graph.role = #graph.role<F>} : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A second entry evaluates, and so has no gradients.
func.func @micro_batch(%x: tensor<f32> {graph.input = "x"}, %y: tensor<i64>) -> (tensor<f32>, tensor<i64>)
    attributes {graph.entry = #graph.purpose<train>} {
  return %x, %y : tensor<f32>, tensor<i64>
}
// expected-error @+1 {{gate of Differentiate: an evaluation entry has gradients}}
func.func @evaluation(%w: tensor<f32> {graph.param = "w"}, %y: tensor<i64>)
    -> (tensor<f32>, tensor<i64>, tensor<f32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<evaluate>} {
  return %w, %y, %w : tensor<f32>, tensor<i64>, tensor<f32>
}
