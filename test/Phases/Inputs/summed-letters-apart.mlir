// Letters b and c are summed; between them lies d.
module attributes {graph.nominal_count = 8 : i64, graph.groups = [
    {kind = "sgd", lr = 0.1 : f64, beta1 = 0.0 : f64, beta2 = 0.0 : f64, eps = 0.0 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
func.func @forward(
    %w: tensor<3x5x4xf32> {graph.param = "w"}, %x: tensor<2x3x4xf32> {graph.input = "x"}, %labels: tensor<2xi64> {graph.input = "labels", graph.limit = 5 : i64})
    -> (tensor<f32>, tensor<i64>) {
  %y = graph.contract "abc,bdc->ad" %x, %w {graph.unit = #graph.unit<"all", 0>} : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<2x5xf32>
  %sum, %count, %lse = graph.cross_entropy %y, %labels ignore -100 {graph.unit = #graph.unit<"all", 0>} : (tensor<2x5xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
}
