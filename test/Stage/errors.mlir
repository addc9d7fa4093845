// What Stage refuses: ops that belong nowhere, units that need each other, and what its gate finds.
// RUN: split-file %s %t
// RUN: not xlc-opt %t/no-unit.mlir --xlc-outline-units 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not xlc-opt %t/cycle.mlir --xlc-outline-units 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: not xlc-opt %t/nothing.mlir --xlc-verify-staged 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not xlc-opt %t/no-unit.mlir --xlc-verify-staged 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not xlc-opt %t/twice.mlir --xlc-verify-staged 2>&1 | FileCheck %s --check-prefix=TWICE

//--- no-unit.mlir
// UNIT: error: op must have a unit and a role
// CALL: error: gate of Stage: not a call of a unit function
func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"layer", 0>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- cycle.mlir
// CYCLE: error: 'a_F' needs a value of a unit that runs after it
func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : tensor<2xf32>
  %1 = graph.tanh %0 {graph.role = #graph.role<F>, graph.unit = #graph.unit<"b", 0>} : tensor<2xf32>
  %2 = graph.tanh %1 {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : tensor<2xf32>
  return %2 : tensor<2xf32>
}

//--- nothing.mlir
// NOTHING: error: gate of Stage: there is no training entry
func.func @other() {
  return
}

//--- twice.mlir
// TWICE: error: gate of Stage: unit #graph.unit<"a", 0> runs twice
func.func private @a_F(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @micro_batch(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = call @a_F(%x) {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @a_F(%0) {graph.role = #graph.role<F>, graph.unit = #graph.unit<"a", 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
