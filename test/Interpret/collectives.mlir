// A group that names a rank that is not there.
// RUN: xlc-opt --xlc-interpret=arithmetic=field --verify-diagnostics %s
func.func @alone(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'dist.all_reduce' op has rank 1 in its group, but there are 1 ranks}}
  %0 = dist.all_reduce sum %x over <tp, [2, 1], []> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
