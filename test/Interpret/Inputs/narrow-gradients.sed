# Turns program.mlir into one whose gradients of w and of the logits are kept in bf16, at odd multiples of two bytes.
s/("bw\/grads" size) 24 offset 88/\1 12 offset 90/
s/("d" size) 24 offset 184/\1 12 offset 186/
s/(reduce_scatter "bw".*)<6 \+ 0 \+ 12> count 3 f32/\1<6 + 0 + 6> count 3 bf16/
s/<6 \+ 0 \+ 12>/<6 + 0 + 6>/
/@head\(/ s/%d: memref<2x3xf32>/%d: memref<2x3xbf16>/
/@loss ins/ s/outs \(%d, %sum, %count : memref<2x3xf32>/outs (%d, %sum, %count : memref<2x3xbf16>/
/@loss\(/,/return/ {
  s/-> \(tensor<2x3xf32>/-> (tensor<2x3xbf16>/
  s/.*return.*/  %narrow = graph.cast %d : tensor<2x3xf32> -> tensor<2x3xbf16>\n  return %narrow, %sum, %count : tensor<2x3xbf16>, tensor<f32>, tensor<i64>/
}
/@layer_B\(/,/return/ {
  s/%d: memref<2x3xf32>, %dw: memref<2x3xf32>/%d: memref<2x3xbf16>, %dw: memref<2x3xbf16>/
  s/memref<2x3xf32> -> memref<3x2xf32/memref<2x3xbf16> -> memref<3x2xbf16/
  s/memref<3x2xf32/memref<3x2xbf16/
  s/(@k_dw .*), memref<2x3xf32>\) outs \(%dw : memref<2x3xf32>/\1, memref<2x3xbf16>) outs (%dw : memref<2x3xbf16>/
}
/@k_dw\(/,/\}/ {
  s/%d: tensor<2x3xf32>\) -> tensor<2x3xf32>/%d: tensor<2x3xbf16>) -> tensor<2x3xbf16>/
  s/.*graph.contract.*/  %wide = graph.cast %d : tensor<2x3xbf16> -> tensor<2x3xf32>/
  s/.*return.*/  %0 = graph.contract "ab,ac->bc" %x, %wide : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n  %1 = graph.cast %0 : tensor<2x3xf32> -> tensor<2x3xbf16>\n  return %1 : tensor<2x3xbf16>/
}
/@k_db\(/,/\}/ {
  s/%d: tensor<3x2xf32>/%d: tensor<3x2xbf16>/
  s/.*graph.reduce.*/  %wide = graph.cast %d : tensor<3x2xbf16> -> tensor<3x2xf32>\n  %0 = graph.reduce sum %wide dims [1] : tensor<3x2xf32> -> tensor<3xf32>/
}
/@norm\(/,/return/ s/memref<3xf32>/memref<3xbf16>/
/@k_squares3\(/,/\}/ {
  s/%g: tensor<3xf32>/%g: tensor<3xbf16>/
  s/.*graph.sum_squares.*/  %wide = graph.cast %g : tensor<3xbf16> -> tensor<3xf32>\n  %0 = graph.sum_squares %wide : tensor<3xf32> -> tensor<f64>/
}
/@update_w\(/,/return/ {
  s/%g: memref<3xf32>/%g: memref<3xbf16>/
  s/: memref<3xf32>, memref<3xf32>, memref<6xf32>/: memref<3xf32>, memref<3xbf16>, memref<6xf32>/
}
/@k_update_w\(/,/\}/ {
  s/%g: tensor<3xf32>/%g: tensor<3xbf16>/
  s/(.*)(graph.optimizer_step adamw %p, )%g/  %wide = graph.cast %g : tensor<3xbf16> -> tensor<3xf32>\n\1\2%wide/
}
