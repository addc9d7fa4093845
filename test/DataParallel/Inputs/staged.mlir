// What Stage hands over, in small: a table tied between embed and head, a frozen table, two equal layers.
func.func @micro_batch(%wte: tensor<100xf32> {graph.param = "wte"}, %wpe: tensor<20xf32> {graph.param = "wpe", graph.frozen},
                       %w0: tensor<70xf32> {graph.param = "h.0.weight"}, %b0: tensor<3xf32> {graph.param = "h.0.bias"},
                       %w1: tensor<70xf32> {graph.param = "h.1.weight"}, %b1: tensor<3xf32> {graph.param = "h.1.bias"},
                       %ids: tensor<2xi64> {graph.input = "ids"})
    -> (tensor<f32>, tensor<i64>, tensor<3xf32> {graph.grad = "h.1.bias"}, tensor<70xf32> {graph.grad = "h.1.weight"},
        tensor<3xf32> {graph.grad = "h.0.bias"}, tensor<70xf32> {graph.grad = "h.0.weight"},
        tensor<100xf32> {graph.grad = "wte"}, tensor<100xf32> {graph.grad = "wte"}) attributes {graph.entry = #graph.purpose<train>} {
  %x0 = call @embed_F(%ids, %wte, %wpe) {graph.unit = #graph.unit<"embed", 0>, graph.role = #graph.role<F>, graph.params = 2 : i64, graph.stores = 0 : i64}
      : (tensor<2xi64>, tensor<100xf32>, tensor<20xf32>) -> tensor<2xf32>
  %x1 = call @layer_F(%x0, %b0, %w0) {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>, graph.params = 2 : i64, graph.stores = 0 : i64}
      : (tensor<2xf32>, tensor<3xf32>, tensor<70xf32>) -> tensor<2xf32>
  %x2 = call @layer_F(%x1, %b1, %w1) {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>, graph.params = 2 : i64, graph.stores = 0 : i64}
      : (tensor<2xf32>, tensor<3xf32>, tensor<70xf32>) -> tensor<2xf32>
  %sum, %count = call @head_F(%x2, %wte) {graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<F>, graph.params = 1 : i64, graph.stores = 2 : i64}
      : (tensor<2xf32>, tensor<100xf32>) -> (tensor<f32>, tensor<i64>)
  %y2, %dwte = call @head_B(%x2, %wte) {graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<I>, graph.params = 1 : i64, graph.stores = 1 : i64}
      : (tensor<2xf32>, tensor<100xf32>) -> (tensor<2xf32>, tensor<100xf32>)
  %y1, %db1, %dw1 = call @layer_B(%y2, %w1) {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<I>, graph.params = 1 : i64, graph.stores = 2 : i64}
      : (tensor<2xf32>, tensor<70xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<70xf32>)
  %y0, %db0, %dw0 = call @layer_B(%y1, %w0) {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<I>, graph.params = 1 : i64, graph.stores = 2 : i64}
      : (tensor<2xf32>, tensor<70xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<70xf32>)
  %dwte2 = call @embed_B(%ids, %y0) {graph.unit = #graph.unit<"embed", 0>, graph.role = #graph.role<I>, graph.params = 0 : i64, graph.stores = 1 : i64}
      : (tensor<2xi64>, tensor<2xf32>) -> tensor<100xf32>
  return %sum, %count, %db1, %dw1, %db0, %dw0, %dwte, %dwte2
      : tensor<f32>, tensor<i64>, tensor<3xf32>, tensor<70xf32>, tensor<3xf32>, tensor<70xf32>, tensor<100xf32>, tensor<100xf32>
}
func.func private @embed_F(tensor<2xi64>, tensor<100xf32>, tensor<20xf32>) -> tensor<2xf32>
func.func private @layer_F(tensor<2xf32>, tensor<3xf32>, tensor<70xf32>) -> tensor<2xf32>
func.func private @head_F(tensor<2xf32>, tensor<100xf32>) -> (tensor<f32>, tensor<i64>)
func.func private @head_B(tensor<2xf32>, tensor<100xf32>) -> (tensor<2xf32>, tensor<100xf32>)
func.func private @layer_B(tensor<2xf32>, tensor<70xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<70xf32>)
func.func private @embed_B(tensor<2xi64>, tensor<2xf32>) -> tensor<100xf32>
func.func private @scalars()
