// RUN: xlc-opt %s --split-input-file --verify-diagnostics --xlc-chunk-loss=rows=4 > /dev/null

// Another reader of the log-sum-exp needs that of all rows.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>, tensor<6xf64>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.neg' reads the log-sum-exp of the loss}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  %n = graph.neg %lse : tensor<6xf64>
  return %sum, %n : tensor<f32>, tensor<6xf64>
}

// -----

// A frozen model has a loss and no gradient.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.cross_entropy' has no gradient}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  return %sum : tensor<f32>
}

// -----

// No product makes the logits.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>, %w2: tensor<6x9xf32>)
    -> (tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.cross_entropy' reads an input of the model}}
  %sum, %count, %lse = graph.cross_entropy %w2, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %w2, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  return %sum : tensor<f32>
}

// -----

// A constant with other elements in each row has no rows of its own.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  %b = graph.constant dense<"0x0000803F0100803F0200803F0300803F0400803F0500803F0600803F0700803F0800803F0900803F0A00803F0B00803F0C00803F0D00803F0E00803F0F00803F1000803F1100803F1200803F1300803F1400803F1500803F1600803F1700803F1800803F1900803F1A00803F1B00803F1C00803F1D00803F1E00803F1F00803F2000803F2100803F2200803F2300803F2400803F2500803F2600803F2700803F2800803F2900803F2A00803F2B00803F2C00803F2D00803F2E00803F2F00803F3000803F3100803F3200803F3300803F3400803F3500803F"> : tensor<6x9xf32>
  %z = graph.add %y, %b : tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.constant' differs from row to row}}
  %sum, %count, %lse = graph.cross_entropy %z, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %z, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  return %sum : tensor<f32>
}

// -----

// A number per row is repeated along it.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  %c = graph.constant dense<1.0> : tensor<6x1xf32>
  %b = graph.broadcast %c : tensor<6x1xf32> -> tensor<6x9xf32>
  %z = graph.add %y, %b : tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.broadcast' repeats rows}}
  %sum, %count, %lse = graph.cross_entropy %z, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %z, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  return %sum : tensor<f32>
}

// -----

// A softmax is no op of elements.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  %z = graph.softmax %y : tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.softmax' is between the last product and the loss, but is not elementwise}}
  %sum, %count, %lse = graph.cross_entropy %z, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %z, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  return %sum : tensor<f32>
}

// -----

// The rows are the second dimension of the operand.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>, %xt: tensor<8x6xf32>)
    -> (tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ya,zy->az" %xt, %w : (tensor<8x6xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.contract' does not multiply rows by a matrix}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  return %sum : tensor<f32>
}

// -----

// A sum along each row, not over rows.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>, tensor<6xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.reduce' does not sum over all rows}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  %s = graph.reduce sum %d dims [1] : tensor<6x9xf32> -> tensor<6xf32>
  return %sum, %s : tensor<f32>, tensor<6xf32>
}

// -----

// A transpose of the gradient.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>, tensor<9x6xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.transpose' reads the gradient of the logits, but is not a product, a sum or an elementwise op}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  %s = graph.transpose %d [1, 0] : tensor<6x9xf32> -> tensor<9x6xf32>
  return %sum, %s : tensor<f32>, tensor<9x6xf32>
}

// -----

// The rows are the second dimension of the result.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>, tensor<8x6xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.contract' does not have the row dimensions of the logits as its first dimensions}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  %s = graph.contract "az,zy->ya" %d, %w : (tensor<6x9xf32>, tensor<9x8xf32>) -> tensor<8x6xf32>
  return %sum, %s : tensor<f32>, tensor<8x6xf32>
}

// -----

// A second loss on the logits, by small ops.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>, tensor<9xf32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.reduce' also reads the logits}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  %s = graph.reduce max %y dims [0] : tensor<6x9xf32> -> tensor<9xf32>
  return %sum, %s : tensor<f32>, tensor<9xf32>
}

// -----

// An op of backward between the loss and its gradient.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>, tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.neg' reads the loss in backward or in another unit}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %n = graph.neg %sum {graph.role = #graph.role<I>} : tensor<f32>
  %d = graph.cross_entropy_backward %y, %labels, %lse, %seed : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  return %sum, %n : tensor<f32>, tensor<f32>
}

// -----

// The gradient's factor is made of the loss.
func.func @micro_batch(%w: tensor<9x8xf32> {graph.param = "w"}, %x: tensor<6x8xf32> {graph.input = "x"}, %labels: tensor<6xi64> {graph.input = "labels"}, %seed: tensor<f32>)
    -> (tensor<f32>) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ay,zy->az" %x, %w : (tensor<6x8xf32>, tensor<9x8xf32>) -> tensor<6x9xf32>
  // expected-remark @below {{the loss cannot be computed in chunks of rows: 'graph.exp' depends on one part of the loss and is used by another}}
  %sum, %count, %lse = graph.cross_entropy %y, %labels : (tensor<6x9xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<i64>, tensor<6xf64>)
  %e = graph.exp %sum {graph.role = #graph.role<F>} : tensor<f32>
  %d = graph.cross_entropy_backward %y, %labels, %lse, %e : (tensor<6x9xf32>, tensor<6xi64>, tensor<6xf64>, tensor<f32>) -> tensor<6x9xf32>
  return %sum : tensor<f32>
}
