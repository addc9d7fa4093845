// Calls are followed, arguments are random by name and seed, results carry their gradient's name.
// RUN: xlc-opt --xlc-interpret=function=twice %s | FileCheck %s --check-prefix=TWICE
// RUN: xlc-opt --xlc-interpret %s | FileCheck %s
// RUN: xlc-opt --xlc-interpret=seed=1 %s | FileCheck %s --check-prefix=SEED

func.func private @double(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %y = graph.add %x, %x : tensor<2xf64>
  return %y, %x : tensor<2xf64>, tensor<2xf64>
}

// TWICE-NOT: // {{a|b}}.0
// TWICE: // twice.w: tensor<2xf64> [4, 8]
// TWICE-NOT: // {{a|b}}.0
func.func @twice() -> (tensor<2xf64> {graph.grad = "w", graph.expect = dense<[4.0, 8.0]> : tensor<2xf64>}) {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %0:2 = call @double(%x) : (tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  %1:2 = call @double(%0#0) : (tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  return %1#0 : tensor<2xf64>
}

// Arguments of the same name get the same data, whatever their place; ids lie below the limit.
// CHECK: // a.0: tensor<2xf64> [[[W:.*]]]
// CHECK: // b.0: tensor<2xf64> [[[W]]]
// CHECK-NEXT: // b.1: tensor<4xi64> [0, 0, 0, 0]
// SEED: // a.0: tensor<2xf64> [[[W:.*]]]
// SEED: // b.0: tensor<2xf64> [[[W]]]
func.func @a(%x: tensor<2xf64> {graph.param = "w"}) -> tensor<2xf64> {
  return %x : tensor<2xf64>
}
func.func @b(%i: tensor<4xi64> {graph.input = "ids", graph.limit = 1 : i64}, %x: tensor<2xf64> {graph.param = "w"}) -> (tensor<2xf64>, tensor<4xi64>) {
  return %x, %i : tensor<2xf64>, tensor<4xi64>
}
