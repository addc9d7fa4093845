// The gate of Stage.
// RUN: xlc-opt %s --xlc-verify-staged --split-input-file --verify-diagnostics

// expected-error @+1 {{gate of Stage: there is no training entry}}
module {
}

// -----

func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{gate of Stage: not a call of a unit function}}
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @layer_F(tensor<2xf32>) -> tensor<2xf32>
func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = call @layer_F(%x) {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error @+1 {{gate of Stage: unit #graph.unit<"layer", 0> runs twice}}
  %1 = call @layer_F(%0) {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
