// Every op needs a row in the factor table, and matrices must be able to stay where they are.
// RUN: xlc-opt %s --xlc-test-set-mesh=tp=2 --xlc-partition --split-input-file --verify-diagnostics

func.func private @other()
func.func @micro_batch() attributes {graph.entry = #graph.purpose<train>} {
  // expected-error @+1 {{there is no sharding rule for 'func.call'}}
  call @other() : () -> ()
  return
}

// -----

// A matrix whose rows and columns are both needed whole.
#unit = #graph.unit<"layer", 1>
#F = #graph.role<F>
// expected-error @+1 {{tp = 2: the matrices of unit 'layer' cannot all be split without moving their elements}}
module {
  func.func @micro_batch(%x: tensor<2x4xf32>, %w: tensor<4x4xf32> {graph.param = "w"}) -> tensor<2x4xf32> attributes {graph.entry = #graph.purpose<train>} {
    %0 = graph.softmax %w {graph.unit = #unit, graph.role = #F} : tensor<4x4xf32>
    %1 = graph.transpose %w [1, 0] {graph.unit = #unit, graph.role = #F} : tensor<4x4xf32> -> tensor<4x4xf32>
    %2 = graph.softmax %1 {graph.unit = #unit, graph.role = #F} : tensor<4x4xf32>
    %3 = graph.contract "ab,bc->ac" %x, %w {graph.unit = #unit, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %4 = graph.contract "ab,bc->ac" %3, %0 {graph.unit = #unit, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %5 = graph.contract "ab,bc->ac" %4, %2 {graph.unit = #unit, graph.role = #F} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    return %5 : tensor<2x4xf32>
  }
}

// -----

// A size that nothing divides.
module {
  func.func @micro_batch(%x: tensor<2x1xf32>, %w: tensor<1x1xf32> {graph.param = "w"}) -> tensor<2x1xf32> attributes {graph.entry = #graph.purpose<train>} {
    // expected-error @+2 {{tp = 2 does not divide any dimension of 'w', which is 1 x 1}}
    // expected-note @+1 {{no tp above 1 divides a dimension of 'w'}}
    %0 = graph.contract "ab,bc->ac" %x, %w {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
    return %0 : tensor<2x1xf32>
  }
}

// -----

// Where no heads have a say, what divides a dimension of the matrix is advice enough.
module {
  func.func @micro_batch(%x: tensor<2x3xf32>, %w: tensor<3x9xf32> {graph.param = "w"}) -> tensor<2x9xf32> attributes {graph.entry = #graph.purpose<train>} {
    // expected-error @+2 {{tp = 2 does not divide any dimension of 'w', which is 3 x 9}}
    // expected-note @+1 {{tp = 3 or 9 would divide a dimension of 'w'}}
    %0 = graph.contract "ab,bc->ac" %x, %w {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : (tensor<2x3xf32>, tensor<3x9xf32>) -> tensor<2x9xf32>
    return %0 : tensor<2x9xf32>
  }
}
