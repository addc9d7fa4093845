// What no stages can be made of.
// RUN: split-file %s %t
// RUN: not xlc-opt %t/units.mlir --xlc-test-set-mesh=pp=3 --xlc-assign-stages 2>&1 | FileCheck %s --check-prefix=UNITS
// RUN: not xlc-opt %t/units.mlir --xlc-test-set-mesh=pp=2 --xlc-assign-stages=schedule=zb-v 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not xlc-opt %t/units.mlir --xlc-test-set-mesh=pp=2 --xlc-assign-stages=schedule=2f2b 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not xlc-opt %t/cuts.mlir --xlc-test-set-mesh=pp=2 --xlc-assign-stages 2>&1 | FileCheck %s --check-prefix=CUTS
// UNITS: error: 3 stages need at least 3 units, but the model has 2
// CHUNKS: error: schedule zb-v needs 2 chunks per rank, not 1
// NAME: error: there is no schedule '2f2b'
// CUTS: error: cuts do not define 2 stages

//--- units.mlir
func.func @micro_batch(%x: tensor<2xf32> {graph.input = "x"}) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  %1 = graph.tanh %0 {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : tensor<2xf32>
  return %1 : tensor<2xf32>
}

//--- cuts.mlir
module attributes {graph.cuts = [#graph.unit<"layer", 1>]} {
func.func @micro_batch(%x: tensor<2xf32> {graph.input = "x"}) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : tensor<2xf32>
  %1 = graph.tanh %0 {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : tensor<2xf32>
  return %1 : tensor<2xf32>
}
}
