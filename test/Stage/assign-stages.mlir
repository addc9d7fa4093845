// Consecutive units become chunks: in balance, the head (here as costly as both layers) by itself, or where the cuts are.
// RUN: xlc-opt %s --xlc-test-set-mesh=pp=2 --xlc-assign-stages --split-input-file | FileCheck %s
// RUN: xlc-opt %s --xlc-assign-stages=chunks=1 --split-input-file | FileCheck %s --check-prefix=ONE
// ONE-NOT: graph.chunk
// ONE-NOT: graph.stages

// CHECK: module attributes {dist.mesh = {{.*}}graph.stages = array<i64: 0, 1>}
// CHECK: graph.contract {{.*}}graph.chunk = 0 : i64{{.*}}<"layer", 0>
// CHECK: graph.contract {{.*}}graph.chunk = 0 : i64{{.*}}<"layer", 1>
// CHECK: graph.contract {{.*}}graph.chunk = 1 : i64{{.*}}<"head", 0>
// Backward of the head is on its chunk, that of layer 1 on chunk 0.
// CHECK: graph.contract {{.*}}graph.chunk = 1 : i64, graph.role = #graph.role<I>
// CHECK: graph.contract {{.*}}graph.chunk = 0 : i64, graph.role = #graph.role<W>
func.func @micro_batch(%x: tensor<16x16xf32> {graph.input = "x"}, %w: tensor<16x16xf32> {graph.param = "w"}, %v: tensor<16x64xf32> {graph.param = "v"}) -> tensor<16x64xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,bc->ac" %x, %w {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = graph.contract "ab,bc->ac" %0, %w {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = graph.contract "ab,bc->ac" %1, %v {graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<F>} : (tensor<16x16xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %3 = graph.contract "ac,bc->ab" %2, %v {graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<I>} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x16xf32>
  %4 = graph.contract "ab,ac->bc" %0, %3 {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<W>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x64xf32>
}

// -----

// CHECK: module attributes {dist.mesh = {{.*}}graph.cuts = [#graph.unit<"layer", 0>], graph.stages = array<i64: 0, 1>}
// CHECK: graph.contract {{.*}}graph.chunk = 0 : i64{{.*}}<"layer", 0>
// CHECK: graph.contract {{.*}}graph.chunk = 1 : i64{{.*}}<"layer", 1>
// CHECK: graph.contract {{.*}}graph.chunk = 1 : i64{{.*}}<"head", 0>
module attributes {graph.cuts = [#graph.unit<"layer", 0>]} {
func.func @micro_batch(%x: tensor<16x16xf32> {graph.input = "x"}, %w: tensor<16x16xf32> {graph.param = "w"}, %v: tensor<16x64xf32> {graph.param = "v"}) -> tensor<16x64xf32> attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.contract "ab,bc->ac" %x, %w {graph.unit = #graph.unit<"layer", 0>, graph.role = #graph.role<F>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = graph.contract "ab,bc->ac" %0, %w {graph.unit = #graph.unit<"layer", 1>, graph.role = #graph.role<F>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = graph.contract "ab,bc->ac" %1, %v {graph.unit = #graph.unit<"head", 0>, graph.role = #graph.role<F>} : (tensor<16x16xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  return %2 : tensor<16x64xf32>
}
}
