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

// A condition beside the scores, which leaves the queries of the second sample no key: what those give is taken out of the library's call, and added to dv.
// CHECK-LABEL: @padded
// CHECK: graph.attention none {{.*}} bias %[[SEEN:.*]] scale
// CHECK: %[[UNSEEN:.*]] = graph.compare le {{.*}} {graph.forbids}
// CHECK: %[[ONES:.*]] = graph.select {{.*}} : tensor<2x128x1xi1>, tensor<2x128x1xbf16>
// CHECK: graph.contract "bqh,bqhe->bhe" %[[ONES]], {{.*}} -> tensor<2x1x16xf32>
// CHECK: %[[GIVEN:.*]] = graph.select
// CHECK: %{{.*}}, %{{.*}}, %[[DV:.*]] = graph.attention_backward none {{.*}}, %[[GIVEN]] bias
// CHECK: %[[WIDE:.*]] = graph.cast %[[DV]]
// CHECK: graph.add %[[WIDE]]
func.func @padded(%q: tensor<2x128x2x8xbf16>, %d: tensor<2x128x2x8xbf16>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>) {
  %key = graph.iota dim 3 : tensor<2x1x1x128xi32>
  %far = graph.constant dense<[[[[5]]], [[[0]]]]> : tensor<2x1x1x1xi32>
  %end = graph.broadcast %far : tensor<2x1x1x1xi32> -> tensor<2x1x1x128xi32>
  %seen = graph.compare lt %key, %end : tensor<2x1x1x128xi32> -> tensor<2x1x1x128xi1>
  %out, %lse = graph.attention none %q, %q, %q bias %seen scale 0.5 {uniform} : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %q, %q, %out, %lse, %d bias %seen scale 0.5 {uniform} : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>)
  return %dq, %dk, %dv : tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>
}

// Heads with conditions of their own, which share keys and values; later queries see fewer keys, the last ones none.
// CHECK-LABEL: @padded_heads
// CHECK: graph.contract "bqh,bqhe->bhe" {{.*}} -> tensor<1x2x8xf32>
// CHECK: graph.reduce sum
// CHECK: graph.attention_backward
func.func @padded_heads(%q: tensor<1x128x2x8xbf16>, %k: tensor<1x128x1x8xbf16>, %d: tensor<1x128x2x8xbf16>) -> (tensor<1x128x2x8xbf16>, tensor<1x128x1x8xbf16>, tensor<1x128x1x8xbf16>) {
  %key = graph.iota dim 3 : tensor<1x2x128x128xi32>
  %query = graph.iota dim 2 : tensor<1x2x128x128xi32>
  %far = graph.constant dense<[[[[100]], [[40]]]]> : tensor<1x2x1x1xi32>
  %end = graph.broadcast %far : tensor<1x2x1x1xi32> -> tensor<1x2x128x128xi32>
  %sum = graph.add %key, %query : tensor<1x2x128x128xi32>
  %seen = graph.compare lt %sum, %end : tensor<1x2x128x128xi32> -> tensor<1x2x128x128xi1>
  %out, %lse = graph.attention none %q, %k, %k bias %seen scale 0.5 {uniform} : (tensor<1x128x2x8xbf16>, tensor<1x128x1x8xbf16>, tensor<1x128x1x8xbf16>, tensor<1x2x128x128xi1>) -> (tensor<1x128x2x8xbf16>, tensor<1x2x128xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %k, %k, %out, %lse, %d bias %seen scale 0.5 {uniform} : (tensor<1x128x2x8xbf16>, tensor<1x128x1x8xbf16>, tensor<1x128x1x8xbf16>, tensor<1x128x2x8xbf16>, tensor<1x2x128xf64>, tensor<1x128x2x8xbf16>, tensor<1x2x128x128xi1>) -> (tensor<1x128x2x8xbf16>, tensor<1x128x1x8xbf16>, tensor<1x128x1x8xbf16>)
  return %dq, %dk, %dv : tensor<1x128x2x8xbf16>, tensor<1x128x1x8xbf16>, tensor<1x128x1x8xbf16>
}

// Causal, padded on the left: the first queries of the second sample see no key up to their own, and attend to all alike; with a window the
// last ones of the first see none.
// CHECK-LABEL: @padded_causal
// CHECK: graph.attention causal {{.*}} bias %[[SEEN:.*]] scale
// CHECK: %[[VISIBLE:.*]] = graph.and
// CHECK: %[[SCORE:.*]] = graph.select %{{.*}} : tensor<2x1x128x128xi1>, tensor<2x1x128x128xf32>
// CHECK: graph.compare le {{.*}} {graph.forbids} : tensor<2x1x128xf32>
// CHECK: graph.contract "bqh,bqhe->bhe"
// CHECK: graph.attention_backward causal
func.func @padded_causal(%q: tensor<2x128x2x8xbf16>, %d: tensor<2x128x2x8xbf16>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>) {
  %key = graph.iota dim 3 : tensor<2x1x1x128xi32>
  %first = graph.constant dense<[[[[0]]], [[[100]]]]> : tensor<2x1x1x1xi32>
  %begin = graph.broadcast %first : tensor<2x1x1x1xi32> -> tensor<2x1x1x128xi32>
  %last = graph.constant dense<[[[[90]]], [[[128]]]]> : tensor<2x1x1x1xi32>
  %end = graph.broadcast %last : tensor<2x1x1x1xi32> -> tensor<2x1x1x128xi32>
  %behind = graph.compare ge %key, %begin : tensor<2x1x1x128xi32> -> tensor<2x1x1x128xi1>
  %before = graph.compare lt %key, %end : tensor<2x1x1x128xi32> -> tensor<2x1x1x128xi1>
  %seen = graph.and %behind, %before : tensor<2x1x1x128xi1>
  %out, %lse = graph.attention causal %q, %q, %q bias %seen scale 0.5 {uniform, window = 20} : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>)
  %dq, %dk, %dv = graph.attention_backward causal %q, %q, %q, %out, %lse, %d bias %seen scale 0.5 {uniform, window = 20} : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>)
  return %dq, %dk, %dv : tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>
}

// Where such a query attends to nothing, the library is asked for the other, and its result becomes zero there.
// CHECK-LABEL: @attends_to_none
// CHECK: %[[UNSEEN:.*]] = graph.compare le {{.*}} {graph.forbids}
// CHECK: %[[OUT:.*]], %{{.*}} = graph.attention none {{.*}} {uniform}
// CHECK: %[[NONE:.*]] = graph.select %{{.*}}, %{{.*}}, %[[OUT]] : tensor<2x128x2x8xi1>
// CHECK-NOT: graph.contract
// CHECK: %[[GIVEN:.*]] = graph.select %{{.*}}, %{{.*}}, %arg1
// CHECK: graph.attention_backward none {{.*}}, %[[NONE]], %{{.*}}, %[[GIVEN]] bias {{.*}} {uniform}
// CHECK-NEXT: return %[[NONE]]
func.func @attends_to_none(%q: tensor<2x128x2x8xbf16>, %d: tensor<2x128x2x8xbf16>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>) {
  %key = graph.iota dim 3 : tensor<2x1x1x128xi32>
  %far = graph.constant dense<[[[[5]]], [[[0]]]]> : tensor<2x1x1x1xi32>
  %end = graph.broadcast %far : tensor<2x1x1x1xi32> -> tensor<2x1x1x128xi32>
  %seen = graph.compare lt %key, %end : tensor<2x1x1x128xi32> -> tensor<2x1x1x128xi1>
  %out, %lse = graph.attention none %q, %q, %q bias %seen scale 0.5 : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %q, %q, %out, %lse, %d bias %seen scale 0.5 : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>)
  return %out, %dq, %dk, %dv : tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>
}
// What is added are floats: the library would be wrong.
// CHECK-LABEL: @floats
// CHECK-NOT: graph.attention
func.func @floats(%q: tensor<2x128x2x8xbf16>, %bias: tensor<2x1x1x128xf32>) -> tensor<2x128x2x8xbf16> {
  %out, %lse = graph.attention none %q, %q, %q bias %bias scale 0.5 {uniform} : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xf32>) -> (tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>)
  return %out : tensor<2x128x2x8xbf16>
}

// Where gradients reach the scores of queries that see no key, both are products: the library has lost those scores.
// CHECK-LABEL: @reached
// CHECK-NOT: graph.attention
func.func @reached(%q: tensor<2x128x2x8xbf16>, %d: tensor<2x128x2x8xbf16>, %seen: tensor<2x1x1x128xi1>) -> tensor<2x128x2x8xbf16> {
  %out, %lse = graph.attention none %q, %q, %q bias %seen scale 0.5 {added, uniform} : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>)
  %dq, %dk, %dv = graph.attention_backward none %q, %q, %q, %out, %lse, %d bias %seen scale 0.5 {added, uniform} : (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x2x128xf64>, tensor<2x128x2x8xbf16>, tensor<2x1x1x128xi1>) -> (tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>, tensor<2x128x2x8xbf16>)
  return %dq : tensor<2x128x2x8xbf16>
}
