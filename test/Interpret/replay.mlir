// --xlc-replay: steps of the unpartitioned program in float64, on parameters and rows from files. Two micro-batches make a step.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 -c "import array; array.array('d', [1, 1]).tofile(open('%t/w', 'wb')); array.array('d', [1, 2, 3, 4, 1, 0, 1, 2]).tofile(open('%t/x', 'wb'))"
// RUN: xlc-opt %s --xlc-differentiate --xlc-append-update --xlc-replay="data=%t steps=2 batch=2" -o /dev/null | FileCheck %s
// w x is 3 and 7. The gradient is the mean of x, (2, 3); half of it is taken from w, which becomes (0, -1/2).
// CHECK: // step 1 loss 5.0{{0*}}e+00 norm 3.605551275463989
// CHECK: // step 2 loss -5.0{{0*}}e-01 norm 1.414213562373095
// RUN: not xlc-opt %s --xlc-differentiate --xlc-append-update --xlc-replay="data=%t steps=3 batch=2" 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: x' must be a file of 96 bytes
module attributes {graph.nominal_count = 2 : i64, graph.groups = [
    {kind = "sgd", lr = 0.5 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
func.func @forward(%w: tensor<2xf32> {graph.param = "w", graph.group = 0 : i64}, %x: tensor<1x2xf32> {graph.input = "x"})
    -> (tensor<f32>, tensor<i64>) {
  %row = graph.reshape %x : tensor<1x2xf32> -> tensor<2xf32>
  %product = graph.mul %w, %row : tensor<2xf32>
  %loss = graph.reduce sum %product dims [0] : tensor<2xf32> -> tensor<f32>
  %count = graph.constant dense<1> : tensor<i64>
  return %loss, %count : tensor<f32>, tensor<i64>
}
}
