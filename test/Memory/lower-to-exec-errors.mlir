// A product that was not normalised: two letters are summed that lie apart.
// RUN: xlc-opt %s --xlc-lower-to-exec --verify-diagnostics
module attributes {graph.groups = []} {
sched.timeline @train ranks 1 shards 1 micro_batches 1 {
  %x, %w = sched.load micro 0 ["x", "w"] : tensor<2x3x4xf32>, tensor<3x5x4xf32>
  %y = sched.run @layer_F #graph.unit<"layer", 0> micro 0 (%x, %w) params [] stores [] accumulate [] : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<2x5xf32>
}
func.func private @kernel(%x: tensor<2x3x4xf32>, %w: tensor<3x5x4xf32>) -> tensor<2x5xf32> attributes {exec.kind = "contract"} {
  %y = graph.contract "abc,bdc->ad" %x, %w : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
func.func private @layer_F(%x: tensor<2x3x4xf32>, %w: tensor<3x5x4xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{no library call takes these layouts}}
  %y = call @kernel(%x, %w) : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}
}
