// What the gate of Precision refuses: planted faults, one each.
// RUN: xlc-opt %s --xlc-verify-precision --split-input-file --verify-diagnostics

func.func @micro_batch(%a: tensor<2x2xf32>) attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Precision: multiplies 'f32'; operands of products must be 'bf16'}}
  %0 = graph.contract "ab,bc->ac" %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----
func.func @micro_batch(%a: tensor<2xf32>) attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Precision: produces 'f16', but the narrow type is 'bf16'}}
  %0 = graph.cast %a : tensor<2xf32> -> tensor<2xf16>
  return
}

// -----
// A log-sum-exp that is rounded.
func.func @micro_batch(%logits: tensor<2x4xf32>, %labels: tensor<2xi64>) attributes {graph.entry = #graph.purpose<train>} {
  %sum, %count, %lse = graph.cross_entropy %logits, %labels : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  // expected-error @+1 {{gate of Precision: rounds a statistic, which backward needs unrounded}}
  %0 = graph.cast %lse : tensor<2xf32> -> tensor<2xbf16>
  return
}

// -----
// A partial sum that is rounded before it is whole: other micro-batches and ranks add to it.
module {
func.func @micro_batch(%w: tensor<2x2xbf16> {graph.param = "w"}, %a: tensor<2x2xbf16>) -> (tensor<2x2xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,ac->bc" %a, %a : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  // expected-error @+1 {{gate of Precision: a contribution to the gradient of 'w' is rounded before all contributions are added up}}
  %1 = graph.cast %0 : tensor<2x2xbf16> -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
func.func @update(%w: tensor<2x2xf32> {graph.param = "w"}) {
  return
}
}

// -----
// A parameter that the optimizer would update in sixteen bits: a small step would round to nothing.
module {
// expected-error @+1 {{gate of Precision: parameter 'w' is updated with a master of type 'bf16', but the type must be 'f32'}}
func.func @micro_batch(%w: tensor<2xbf16> {graph.param = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  return
}
func.func @update(%w: tensor<2xbf16> {graph.param = "w"}) {
  return
}
}

// -----
// A scale that is applied twice.
module attributes {graph.loss_scale = {initial = 8.0 : f64, window = 2 : i64, hysteresis = 1 : i64, min = 1.0 : f64, dynamic = true}} {
// expected-error @+1 {{gate of Precision: backward's first gradient is scaled 2 times; the required number is 1}}
func.func @micro_batch(%one: tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %seed = graph.scale %one by 1 over 8 {graph.seed} : tensor<f32>
  %scale = graph.step_number loss_scale : tensor<f32>
  %scaled = graph.mul %seed, %scale : tensor<f32>
  // expected-error @+1 {{gate of Precision: uses the loss scale, which may only multiply backward's first gradient}}
  %twice = graph.mul %scaled, %scale : tensor<f32>
  return
}
}

// -----
// Gradients that are scaled back before ranks add them up: what overflows in their sum would not be found by the scale.
module attributes {graph.loss_scale = {initial = 8.0 : f64, window = 2 : i64, hysteresis = 1 : i64, min = 1.0 : f64, dynamic = true}} {
// expected-error @+1 {{gate of Precision: backward's first gradient is scaled 2 times; the required number is 1}}
func.func @micro_batch(%one: tensor<f32>) -> (tensor<f32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %seed = graph.scale %one by 1 over 8 {graph.seed} : tensor<f32>
  %scale = graph.step_number loss_scale : tensor<f32>
  %scaled = graph.mul %seed, %scale : tensor<f32>
  // expected-error @+1 {{gate of Precision: uses the loss scale, which may only multiply backward's first gradient}}
  %unscaled = graph.div %scaled, %scale : tensor<f32>
  return %unscaled : tensor<f32>
}
}
