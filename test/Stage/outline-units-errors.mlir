// What cannot be cut into units.
// RUN: xlc-opt %s --xlc-outline-units --split-input-file --verify-diagnostics

func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{op must have a unit and a role}}
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Two units that need each other have no order.
func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  %1 = graph.exp %0 {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : tensor<2xf32>
  // expected-error @+1 {{'layer_F' needs a value of a unit that runs after it}}
  %2 = graph.tanh %1 {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  return %2 : tensor<2xf32>
}
