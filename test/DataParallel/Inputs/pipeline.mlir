// What Stage hands over for three pipeline stages: a table tied between the first and the last, and a skip connection
// (%s) from the first to the last, which the stage in between relays; its gradient (%ds) goes the same way back.
module attributes {graph.stages = array<i64: 0, 1, 2>} {
func.func @micro_batch(%wte: tensor<100xf32> {graph.param = "wte"}, %w: tensor<70xf32> {graph.param = "h.weight"},
                       %ids: tensor<2xi64> {graph.input = "ids"}, %labels: tensor<2xi64> {graph.input = "labels"})
    -> (tensor<f32>, tensor<i64>, tensor<70xf32> {graph.grad = "h.weight"},
        tensor<100xf32> {graph.grad = "wte"}, tensor<100xf32> {graph.grad = "wte"}) attributes {graph.entry = #graph.purpose<train>} {
  %x, %s = call @embed_F(%ids, %wte) {graph.chunk = 0 : i64, graph.unit = #graph.unit<"embed", 0>, graph.role = #graph.role<F>, graph.params = 1 : i64, graph.stores = 0 : i64}
      : (tensor<2xi64>, tensor<100xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  %y = call @layer_F(%x, %w) {graph.chunk = 1 : i64, graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>, graph.params = 1 : i64, graph.stores = 0 : i64}
      : (tensor<2xf32>, tensor<70xf32>) -> tensor<2xf32>
  %sum, %count = call @head_F(%y, %s, %labels, %wte) {graph.chunk = 2 : i64, graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<F>, graph.params = 1 : i64, graph.stores = 2 : i64}
      : (tensor<2xf32>, tensor<4xf32>, tensor<2xi64>, tensor<100xf32>) -> (tensor<f32>, tensor<i64>)
  %dy, %ds, %dwte = call @head_B(%y, %s, %wte) {graph.chunk = 2 : i64, graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<I>, graph.params = 1 : i64, graph.stores = 1 : i64}
      : (tensor<2xf32>, tensor<4xf32>, tensor<100xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<100xf32>)
  %dx, %dw = call @layer_B(%dy, %x, %w) {graph.chunk = 1 : i64, graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>, graph.params = 1 : i64, graph.stores = 1 : i64}
      : (tensor<2xf32>, tensor<2xf32>, tensor<70xf32>) -> (tensor<2xf32>, tensor<70xf32>)
  %dwte2 = call @embed_B(%ids, %dx, %ds) {graph.chunk = 0 : i64, graph.unit = #graph.unit<"embed", 0>, graph.role = #graph.role<I>, graph.params = 0 : i64, graph.stores = 1 : i64}
      : (tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<100xf32>
  return %sum, %count, %dw, %dwte, %dwte2 : tensor<f32>, tensor<i64>, tensor<70xf32>, tensor<100xf32>, tensor<100xf32>
}
func.func private @embed_F(tensor<2xi64>, tensor<100xf32>) -> (tensor<2xf32>, tensor<4xf32>)
func.func private @layer_F(tensor<2xf32>, tensor<70xf32>) -> tensor<2xf32>
func.func private @head_F(tensor<2xf32>, tensor<4xf32>, tensor<2xi64>, tensor<100xf32>) -> (tensor<f32>, tensor<i64>)
func.func private @head_B(tensor<2xf32>, tensor<4xf32>, tensor<100xf32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<100xf32>)
func.func private @layer_B(tensor<2xf32>, tensor<2xf32>, tensor<70xf32>) -> (tensor<2xf32>, tensor<70xf32>)
func.func private @embed_B(tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> tensor<100xf32>
func.func private @scalars()
}
