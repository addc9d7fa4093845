// A model of everything that partitioning can get wrong, small enough for the interpreter to run for every
// layout: embedding tied to the output layer, two equal layers with a gate of two slices, a frozen table of
// positions, a parameter of one element, odd sizes that no number of ranks divides, two optimizer groups, clipping.
module attributes {graph.nominal_count = 8 : i64, graph.clip_norm = 1.0 : f64, graph.groups = [
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64, momentum = 0.0 : f64},
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
func.func @forward(%wte: tensor<7x3xf32> {graph.param = "wte", graph.group = 0 : i64},
                   %wpe: tensor<2x3xf32> {graph.param = "wpe", graph.frozen},
                   %n0: tensor<3xf32> {graph.param = "h.0.norm.weight", graph.group = 1 : i64},
                   %s0: tensor<3xf32> {graph.param = "h.0.norm.bias", graph.group = 1 : i64},
                   %w0: tensor<3x6xf32> {graph.param = "h.0.weight", graph.group = 0 : i64},
                   %b0: tensor<6xf32> {graph.param = "h.0.bias", graph.group = 1 : i64},
                   %n1: tensor<3xf32> {graph.param = "h.1.norm.weight", graph.group = 1 : i64},
                   %s1: tensor<3xf32> {graph.param = "h.1.norm.bias", graph.group = 1 : i64},
                   %w1: tensor<3x6xf32> {graph.param = "h.1.weight", graph.group = 0 : i64},
                   %b1: tensor<6xf32> {graph.param = "h.1.bias", graph.group = 1 : i64},
                   %t: tensor<1xf32> {graph.param = "temperature", graph.group = 1 : i64},
                   %ids: tensor<2x2xi64> {graph.input = "ids", graph.limit = 7 : i64},
                   %labels: tensor<2x2xi64> {graph.input = "labels", graph.limit = 7 : i64, graph.ignore = -100 : i64})
    -> (tensor<f32>, tensor<i64>) {
  %e = graph.gather %wte, %ids dim 0 {graph.unit = #graph.unit<"embed", 0>} : (tensor<7x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  %p = graph.broadcast %wpe {graph.unit = #graph.unit<"embed", 0>} : tensor<2x3xf32> -> tensor<2x2x3xf32>
  %x0 = graph.add %e, %p {graph.unit = #graph.unit<"embed", 0>} : tensor<2x2x3xf32>

  %a0, %mean0, %rstd0 = graph.layer_norm %x0, %n0, %s0 {epsilon = 1.0e-5 : f64, graph.unit = #graph.unit<"layer", 0>}
      : (tensor<2x2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x2x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %c0 = graph.contract "abc,cd->abd" %a0, %w0 {graph.unit = #graph.unit<"layer", 0>} : (tensor<2x2x3xf32>, tensor<3x6xf32>) -> tensor<2x2x6xf32>
  %d0 = graph.broadcast %b0 {graph.unit = #graph.unit<"layer", 0>} : tensor<6xf32> -> tensor<2x2x6xf32>
  %f0 = graph.add %c0, %d0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x2x6xf32>
  %u0 = graph.slice %f0 from [0, 0, 0] by [1, 1, 1] {graph.unit = #graph.unit<"layer", 0>} : tensor<2x2x6xf32> -> tensor<2x2x3xf32>
  %v0 = graph.slice %f0 from [0, 0, 3] by [1, 1, 1] {graph.unit = #graph.unit<"layer", 0>} : tensor<2x2x6xf32> -> tensor<2x2x3xf32>
  %g0 = graph.gelu tanh %u0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x2x3xf32>
  %h0 = graph.mul %g0, %v0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x2x3xf32>
  %x1 = graph.add %x0, %h0 {graph.unit = #graph.unit<"layer", 0>} : tensor<2x2x3xf32>

  %a1, %mean1, %rstd1 = graph.layer_norm %x1, %n1, %s1 {epsilon = 1.0e-5 : f64, graph.unit = #graph.unit<"layer", 1>}
      : (tensor<2x2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x2x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %c1 = graph.contract "abc,cd->abd" %a1, %w1 {graph.unit = #graph.unit<"layer", 1>} : (tensor<2x2x3xf32>, tensor<3x6xf32>) -> tensor<2x2x6xf32>
  %d1 = graph.broadcast %b1 {graph.unit = #graph.unit<"layer", 1>} : tensor<6xf32> -> tensor<2x2x6xf32>
  %f1 = graph.add %c1, %d1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x2x6xf32>
  %u1 = graph.slice %f1 from [0, 0, 0] by [1, 1, 1] {graph.unit = #graph.unit<"layer", 1>} : tensor<2x2x6xf32> -> tensor<2x2x3xf32>
  %v1 = graph.slice %f1 from [0, 0, 3] by [1, 1, 1] {graph.unit = #graph.unit<"layer", 1>} : tensor<2x2x6xf32> -> tensor<2x2x3xf32>
  %g1 = graph.gelu tanh %u1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x2x3xf32>
  %h1 = graph.mul %g1, %v1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x2x3xf32>
  %x2 = graph.add %x1, %h1 {graph.unit = #graph.unit<"layer", 1>} : tensor<2x2x3xf32>

  %l = graph.contract "abc,dc->abd" %x2, %wte {graph.unit = #graph.unit<"head", 0>} : (tensor<2x2x3xf32>, tensor<7x3xf32>) -> tensor<2x2x7xf32>
  %s = graph.broadcast %t {graph.unit = #graph.unit<"head", 0>} : tensor<1xf32> -> tensor<2x2x7xf32>
  %logits = graph.mul %l, %s {graph.unit = #graph.unit<"head", 0>} : tensor<2x2x7xf32>
  %sum, %count, %lse = graph.cross_entropy %logits, %labels ignore -100 {graph.unit = #graph.unit<"head", 0>}
      : (tensor<2x2x7xf32>, tensor<2x2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2x2xf32>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
}
