// RUN: xlc-opt %s --xlc-emit-kernels=vector-bytes=32 --cse | FileCheck %s

// Sum and maximum of a row share one loop, with four registers of lanes each; halves are folded in a fixed order. What
// needs them comes in the next loop.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: exec.extent = 5 : i64
// CHECK: scf.for
// CHECK:   %[[R:.*]]:2 = scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>, vector<32xf32>)
// CHECK:   vector.extract_strided_slice %[[R]]#0 {offsets = [0], sizes = [16]
// CHECK:   vector.extract_strided_slice %[[R]]#0 {offsets = [16], sizes = [16]
// CHECK:   scf.for
// CHECK:     llvm.store {{.*}} : vector<8xf32>
func.func private @rows(%x: tensor<5x64xf32>) -> tensor<5x64xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %s = graph.reduce sum %x dims [1] : tensor<5x64xf32> -> tensor<5xf32>
  %m = graph.reduce max %x dims [1] : tensor<5x64xf32> -> tensor<5xf32>
  %d = graph.sub %s, %m : tensor<5xf32>
  %r = graph.reshape %d : tensor<5xf32> -> tensor<5x1xf32>
  %b = graph.broadcast %r : tensor<5x1xf32> -> tensor<5x64xf32>
  %y = graph.mul %x, %b : tensor<5x64xf32>
  return %y : tensor<5x64xf32>
}

// Loops with exp in them have two registers of lanes: of a softmax the sum, and not the maximum that was found before.
// CHECK-LABEL: func.func @softmax
// CHECK:   scf.for {{.*}} -> (vector<32xf32>)
// CHECK:   scf.for {{.*}} -> (vector<16xf32>)
func.func private @softmax(%x: tensor<5x64xf32>) -> tensor<5xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %m = graph.reduce max %x dims [1] : tensor<5x64xf32> -> tensor<5xf32>
  %r = graph.reshape %m : tensor<5xf32> -> tensor<5x1xf32>
  %b = graph.broadcast %r : tensor<5x1xf32> -> tensor<5x64xf32>
  %d = graph.sub %x, %b : tensor<5x64xf32>
  %e = graph.exp %d : tensor<5x64xf32>
  %y = graph.reduce sum %e dims [1] : tensor<5x64xf32> -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// Columns: a lane each, rows one after the other. A result that some call adds to is read under the call's flag.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: exec.extent = 64 : i64, exec.grain = 64 : i64
// CHECK: %[[FLAG:.*]] = arith.cmpi ne
// CHECK: scf.for
// CHECK:   %[[S:.*]] = scf.for {{.*}} -> (vector<32xf32>)
// CHECK:   %[[ADD:.*]] = vector.broadcast %[[FLAG]]
// CHECK:   %[[OLD:.*]] = llvm.intr.masked.load {{.*}}, %[[ADD]]
// CHECK:   %[[SUM:.*]] = arith.addf %[[S]], %[[OLD]]
// CHECK:   arith.select %[[ADD]], %[[SUM]], %[[S]]
func.func private @columns(%x: tensor<5x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<5x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// Squares add up in double.
// CHECK-LABEL: func.func @all
// CHECK-SAME: exec.extent = 1 : i64
// CHECK: scf.for {{.*}} -> (vector<32xf64>)
func.func private @all(%x: tensor<64xf32>) -> tensor<f64> attributes {exec.kind = #exec.kernel<all>} {
  %w = graph.cast %x : tensor<64xf32> -> tensor<64xf64>
  %q = graph.mul %w, %w : tensor<64xf64>
  %y = graph.reduce sum %q dims [0] : tensor<64xf64> -> tensor<f64>
  return %y : tensor<f64>
}

func.func @calls(%a: memref<5x64xf32>, %b: memref<64xf32>, %c: memref<f64>, %d: memref<5xf32>) {
  exec.call @rows ins(%a : memref<5x64xf32>) outs(%a : memref<5x64xf32>) accumulate [0]
  exec.call @softmax ins(%a : memref<5x64xf32>) outs(%d : memref<5xf32>) accumulate [0]
  exec.call @columns ins(%a : memref<5x64xf32>) outs(%b : memref<64xf32>) accumulate [2]
  exec.call @all ins(%b : memref<64xf32>) outs(%c : memref<f64>) accumulate [0]
  return
}
