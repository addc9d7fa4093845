// A model with buffers: two equal units, each with a running average of what it subtracts from the samples of a micro-batch.
module attributes {graph.nominal_count = 8 : i64, graph.groups = [
    {kind = "sgd", lr = 0.01 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.9 : f64}]} {
func.func @forward(%w0: tensor<3x3xf32> {graph.param = "0.weight"}, %w1: tensor<3x3xf32> {graph.param = "1.weight"},
                   %m0: tensor<3xf32> {graph.param = "0.mean", graph.frozen, graph.buffer},
                   %m1: tensor<3xf32> {graph.param = "1.mean", graph.frozen, graph.buffer},
                   %x: tensor<2x3xf32> {graph.input = "x"}, %y: tensor<2xi64> {graph.input = "y", graph.limit = 3 : i64})
    -> (tensor<f32>, tensor<i64>, tensor<3xf32> {graph.buffer = "0.mean"}, tensor<3xf32> {graph.buffer = "1.mean"}) {
  %a0 = graph.contract "ab,bc->ac" %x, %w0 {graph.unit = #graph.unit<"layer", 0>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %s0 = graph.reduce sum %a0 dims [0] {graph.unit = #graph.unit<"layer", 0>} : tensor<2x3xf32> -> tensor<3xf32>
  %k0 = graph.scale %m0 by 9 over 10 {graph.unit = #graph.unit<"layer", 0>} : tensor<3xf32>
  %n0 = graph.add %k0, %s0 {graph.unit = #graph.unit<"layer", 0>} : tensor<3xf32>
  %b0 = graph.broadcast %s0 {graph.unit = #graph.unit<"layer", 0>} : tensor<3xf32> -> tensor<2x3xf32>
  %c0 = graph.sub %a0, %b0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x3xf32>

  %a1 = graph.contract "ab,bc->ac" %c0, %w1 {graph.unit = #graph.unit<"layer", 1>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %s1 = graph.reduce sum %a1 dims [0] {graph.unit = #graph.unit<"layer", 1>} : tensor<2x3xf32> -> tensor<3xf32>
  %k1 = graph.scale %m1 by 9 over 10 {graph.unit = #graph.unit<"layer", 1>} : tensor<3xf32>
  %n1 = graph.add %k1, %s1 {graph.unit = #graph.unit<"layer", 1>} : tensor<3xf32>
  %b1 = graph.broadcast %s1 {graph.unit = #graph.unit<"layer", 1>} : tensor<3xf32> -> tensor<2x3xf32>
  %c1 = graph.sub %a1, %b1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x3xf32>

  %sum, %count, %lse = graph.cross_entropy %c1, %y ignore -100 {graph.unit = #graph.unit<"head", 0>}
      : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf64>)
  return %sum, %count, %n0, %n1 : tensor<f32>, tensor<i64>, tensor<3xf32>, tensor<3xf32>
}
}
