// RUN: xlc-opt %s --xlc-emit-kernels --cse | FileCheck %s

// On contiguous memory an element-wise kernel is one flat loop, cut by callers in multiples of 1024; elements that do
// not fill a vector are done by the same operations under a mask.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: exec.extent = 63 : i64, exec.grain = 1024 : i64
// CHECK: scf.for
// CHECK:   %[[X:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK:   %[[Y:.*]] = arith.addf %[[X]], %[[X]] : vector<16xf32>
// CHECK:   llvm.store %[[Y]]
// CHECK: scf.for
// CHECK:   %[[MASK:.*]] = arith.cmpi slt
// CHECK:   %[[X:.*]] = llvm.intr.masked.load {{.*}}, %[[MASK]]
// CHECK:   %[[Y:.*]] = arith.addf %[[X]], %[[X]] : vector<16xf32>
// CHECK:   llvm.intr.masked.store %[[Y]]
func.func private @twice(%x: tensor<3x21xf32>) -> tensor<3x21xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.add %x, %x : tensor<3x21xf32>
  return %y : tensor<3x21xf32>
}

// A bias has its own shape: rows, and a vector of the bias that rows share is loaded once, outside their loop.
// CHECK-LABEL: func.func @bias
// CHECK-SAME: exec.extent = 3 : i64, exec.grain = 1 : i64
// CHECK: %[[B:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK:   arith.addf {{.*}}, %[[B]] : vector<16xf32>
func.func private @bias(%x: tensor<3x16xf32>, %b: tensor<16xf32>) -> tensor<3x16xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %w = graph.broadcast %b : tensor<16xf32> -> tensor<3x16xf32>
  %y = graph.add %x, %w : tensor<3x16xf32>
  return %y : tensor<3x16xf32>
}

// Neighbours that are not neighbours in memory are gathered.
// CHECK-LABEL: func.func @transpose
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.store
func.func private @transpose(%x: tensor<16x3xf32>) -> tensor<3x16xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.transpose %x [1, 0] : tensor<16x3xf32> -> tensor<3x16xf32>
  return %y : tensor<3x16xf32>
}

func.func @calls(%a: memref<3x21xf32>, %b: memref<3x16xf32>, %c: memref<16xf32>, %d: memref<16x3xf32>) {
  exec.call @twice ins(%a : memref<3x21xf32>) outs(%a : memref<3x21xf32>) accumulate [0]
  exec.call @bias ins(%b, %c : memref<3x16xf32>, memref<16xf32>) outs(%b : memref<3x16xf32>) accumulate [0]
  exec.call @transpose ins(%d : memref<16x3xf32>) outs(%b : memref<3x16xf32>) accumulate [0]
  return
}
