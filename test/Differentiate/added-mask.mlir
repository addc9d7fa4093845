// Gradients reach the scores of queries that see no key where what forbids is added: as those of the small ops that an attention stands
// for. Here all queries of the second sample see none, and by causality and the window the first of the first sample.
// RUN: xlc-opt %s --xlc-differentiate --xlc-interpret=function=micro_batch | grep '^//' > %t.whole
// RUN: xlc-opt %s --pass-pipeline='builtin.module(func.func(decompose-named-ops))' | xlc-opt --xlc-differentiate --xlc-interpret=function=micro_batch | grep '^//' > %t.small
// RUN: diff %t.whole %t.small
// RUN: FileCheck %s < %t.whole
// CHECK: // micro_batch.q: tensor<2x3x2x2xf64> [-0.019816, {{.*}}, 0.00838105]
module attributes {graph.nominal_count = 8 : i64} {
func.func @forward(%q: tensor<2x3x2x2xf64> {graph.param = "q"}, %k: tensor<2x3x1x2xf64> {graph.param = "k"}, %v: tensor<2x3x1x3xf64> {graph.param = "v"},
                   %w: tensor<2x3x2x3xf64> {graph.input = "w"}) -> (tensor<f64>, tensor<i64>) {
  %seen = graph.constant dense<[[[[false, true, true]]], [[[false, false, false]]]]> : tensor<2x1x1x3xi1>
  %out, %lse = graph.attention causal %q, %k, %v bias %seen scale 0.5 {added, uniform, window = 2 : i64}
      : (tensor<2x3x2x2xf64>, tensor<2x3x1x2xf64>, tensor<2x3x1x3xf64>, tensor<2x1x1x3xi1>) -> (tensor<2x3x2x3xf64>, tensor<2x2x3xf64>)
  %weighed = graph.mul %out, %w : tensor<2x3x2x3xf64>
  %loss = graph.reduce sum %weighed dims [0, 1, 2, 3] : tensor<2x3x2x3xf64> -> tensor<f64>
  %count = graph.constant dense<1> : tensor<i64>
  return %loss, %count : tensor<f64>, tensor<i64>
}
}
