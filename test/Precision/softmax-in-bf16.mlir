// Nothing but products computes in sixteen bits: the types of ops say so, and no program can be written that does.
// RUN: xlc-opt %s --split-input-file --verify-diagnostics
func.func @softmax(%x: tensor<2x4xbf16>) {
  // expected-error @+1 {{op operand #0 must be statically shaped tensor of 32-bit float or 64-bit float values, but got 'tensor<2x4xbf16>'}}
  %0 = graph.softmax %x : tensor<2x4xbf16>
  return
}
