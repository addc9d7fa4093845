// A linear layer with cross-entropy; weight and bias in two optimizer groups, clipped. Three ranks or four,
// two micro-batches of two rows: the nominal count is that of four ranks.
module attributes {graph.nominal_count = 16 : i64, graph.clip_norm = 1.0 : f64, graph.groups = [
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.1 : f64, momentum = 0.0 : f64},
    {kind = "adamw", lr = 0.01 : f64, beta1 = 0.9 : f64, beta2 = 0.95 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
func.func @forward(%w: tensor<2x3xf32> {graph.param = "w", graph.group = 0 : i64},
                   %b: tensor<3xf32> {graph.param = "b", graph.group = 1 : i64},
                   %x: tensor<2x2xf32> {graph.input = "x"},
                   %y: tensor<2xi64> {graph.input = "y", graph.limit = 3 : i64, graph.ignore = -100 : i64})
    -> (tensor<f32>, tensor<i64>) {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.broadcast %b : tensor<3xf32> -> tensor<2x3xf32>
  %2 = graph.add %0, %1 : tensor<2x3xf32>
  %sum, %count, %lse = graph.cross_entropy %2, %y ignore -100
      : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
}
