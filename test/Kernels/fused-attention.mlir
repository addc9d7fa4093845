// A GPU's library has attention of sixteen bits with whole blocks of keys (xlc/Runtime/FusedAttention.h); what else there is, is products.
// RUN: xlc-opt --xlc-target=cuda %s --xlc-normalize-reductions | FileCheck %s
// CHECK-LABEL: @fused
// CHECK: graph.attention causal
// CHECK: graph.attention_backward causal
func.func @fused(%q: tensor<2x128x2x8xbf16>, %d: tensor<2x128x2x8xbf16>) -> tensor<2x128x2x8xbf16> {
  %out, %lse = graph.attention causal %q, %q, %q scale 0.5 : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>) -> (tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>)
  %dq, %dk, %dv = graph.attention_backward causal %q, %q, %q, %out, %lse, %d scale 0.5 : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>, tensor<2x128x2x8xbf16>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>)
  return %dq : tensor<2x128x2x8xbf16>
}

// CHECK-LABEL: @float32
// CHECK-NOT: graph.attention
func.func @float32(%q: tensor<2x128x2x8xf32>) -> tensor<2x128x2x8xf32> {
  %out, %lse = graph.attention causal %q, %q, %q scale 0.5 : (tensor<2x128x2x8xf32>, tensor<2x128x2x8xf32>, tensor<2x128x2x8xf32>) -> (tensor<2x128x2x8xf32>, tensor<2x2x128xf64>)
  return %out : tensor<2x128x2x8xf32>
}
// CHECK-LABEL: @part_of_a_block
// CHECK-NOT: graph.attention
func.func @part_of_a_block(%q: tensor<2x96x2x8xbf16>) -> tensor<2x96x2x8xbf16> {
  %out, %lse = graph.attention causal %q, %q, %q scale 0.5 : (tensor<2x96x2x8xbf16>, tensor<2x96x2x8xbf16>, tensor<2x96x2x8xbf16>) -> (tensor<2x96x2x8xbf16>, tensor<2x2x96xf64>)
  return %out : tensor<2x96x2x8xbf16>
}
