// RUN: xlc-opt %s --xlc-emit-kernels --split-input-file --verify-diagnostics

func.func private @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {exec.kind = #exec.kernel<loop>} {
  // expected-error @below {{'graph.softmax' has no row in the lowering table, so it cannot be part of a generated kernel}}
  %y = graph.softmax %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @calls(%x: memref<4x8xf32>) {
  exec.call @k ins(%x : memref<4x8xf32>) outs(%x : memref<4x8xf32>) accumulate [0]
  return
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @calls(%x: memref<4xf32>) {
  // expected-error @below {{kernel 'k' does not exist}}
  exec.call @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) accumulate [0]
  return
}

// -----

// expected-error @below {{result of shape [3] has neither one element for each of the 4 rows of the kernel, nor the 8 elements of each row}}
func.func private @k(%x: tensor<4x8xf32>, %z: tensor<3xf32>) -> (tensor<4xf32>, tensor<3xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %y = graph.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<3xf32>
}
func.func @calls(%x: memref<4x8xf32>, %y: memref<4xf32>, %z: memref<3xf32>) {
  exec.call @k ins(%x, %z : memref<4x8xf32>, memref<3xf32>) outs(%y, %z : memref<4xf32>, memref<3xf32>) accumulate [0, 0]
  return
}

// -----

func.func private @k() -> tensor<2xf32> attributes {exec.kind = #exec.kernel<loop>} {
  // expected-error @below {{the constant's elements are not in the module}}
  %y = graph.constant dense_resource<weights> : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @calls(%x: memref<2xf32>) {
  "exec.call"(%x) {kernel = @k, accumulate = array<i32: 0>, operandSegmentSizes = array<i32: 0, 1, 0>} : (memref<2xf32>) -> ()
  return
}
{-#
  dialect_resources: { builtin: { weights: "0x040000000000803F00000040" } }
#-}

// -----

// expected-error @below {{a kernel with columns of several lengths requires a GPU}}
func.func private @k(%x: tensor<4x8xf32>, %z: tensor<4x6xf32>) -> (tensor<8xf32>, tensor<6xf32>) attributes {exec.kind = #exec.kernel<columns>} {
  %0 = graph.reduce sum %x dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %1 = graph.reduce sum %z dims [0] : tensor<4x6xf32> -> tensor<6xf32>
  return %0, %1 : tensor<8xf32>, tensor<6xf32>
}
func.func @calls(%x: memref<4x8xf32>, %z: memref<4x6xf32>, %a: memref<8xf32>, %b: memref<6xf32>) {
  exec.call @k ins(%x, %z : memref<4x8xf32>, memref<4x6xf32>) outs(%a, %b : memref<8xf32>, memref<6xf32>) accumulate [0, 0]
  return
}

// -----

// expected-error @below {{column sums over rows of 8 elements exceed the row buffer}}
func.func private @k(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<2x8xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %0 = graph.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = graph.reshape %x : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %2 = graph.reduce sum %1 dims [1] : tensor<2x2x8xf32> -> tensor<2x8xf32>
  return %0, %2 : tensor<4xf32>, tensor<2x8xf32>
}
func.func @calls(%x: memref<4x8xf32>, %a: memref<4xf32>, %b: memref<2x8xf32>) {
  exec.call @k ins(%x : memref<4x8xf32>) outs(%a, %b : memref<4xf32>, memref<2x8xf32>) accumulate [0, 0]
  return
}

// -----

// expected-error @below {{all column sums of a kernel must have the same number of chunks}}
func.func private @k(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<1x8xf32>, tensor<2x8xf32>) attributes {exec.kind = #exec.kernel<rows>} {
  %s = graph.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %0 = graph.reshape %x : tensor<4x8xf32> -> tensor<1x4x8xf32>
  %1 = graph.reduce sum %0 dims [1] : tensor<1x4x8xf32> -> tensor<1x8xf32>
  %2 = graph.reshape %x : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %3 = graph.reduce sum %2 dims [1] : tensor<2x2x8xf32> -> tensor<2x8xf32>
  return %s, %1, %3 : tensor<4xf32>, tensor<1x8xf32>, tensor<2x8xf32>
}
func.func @calls(%x: memref<4x8xf32>, %a: memref<4xf32>, %b: memref<1x8xf32>, %c: memref<2x8xf32>) {
  exec.call @k ins(%x : memref<4x8xf32>) outs(%a, %b, %c : memref<4xf32>, memref<1x8xf32>, memref<2x8xf32>) accumulate [0, 0, 0]
  return
}
