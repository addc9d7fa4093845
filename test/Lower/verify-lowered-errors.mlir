// The gate of Lower: a call that is not ready to be emitted.
// RUN: xlc-opt %s --xlc-verify-lowered --split-input-file --verify-diagnostics

// expected-error @below {{gate of Lower: there is no module @kernels}}
module {
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @calls(%x: memref<4xf32>) {
  // expected-error @below {{gate of Lower: 'k' is not a kernel}}
  exec.call @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) accumulate [0]
  return
}
module @kernels {
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.kind = #exec.kernel<loop>} {
  return %x : tensor<4xf32>
}
func.func @calls(%x: memref<4xf32>) {
  // expected-error @below {{gate of Lower: 'k' has no code}}
  exec.call @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) accumulate [0] {exec.code = @other}
  return
}
module @kernels {
  func.func @k() attributes {exec.extent = 4 : i64, exec.grain = 1 : i64} {
    return
  }
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.kind = #exec.kernel<loop>} {
  return %x : tensor<4xf32>
}
func.func @calls(%x: memref<4xf32>) {
  // expected-error @below {{gate of Lower: the code of 'k' declares neither rows nor threads}}
  exec.call @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) accumulate [0] {exec.code = @k}
  return
}
module @kernels {
  func.func @k() attributes {exec.extent = 4 : i64} {
    return
  }
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.kind = #exec.kernel<loop>} {
  return %x : tensor<4xf32>
}
func.func @calls(%x: memref<4xf32>, %y: memref<4xf32, strided<[2]>>) {
  exec.call @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>) accumulate [0] {exec.code = @k}
  // expected-error @below {{gate of Lower: the code of 'k' is also used by a call that requires different code}}
  exec.call @k ins(%y : memref<4xf32, strided<[2]>>) outs(%x : memref<4xf32>) accumulate [0] {exec.code = @k}
  return
}
module @kernels {
  func.func @k() attributes {exec.extent = 4 : i64, exec.grain = 1 : i64} {
    return
  }
}

// -----

func.func private @k(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {exec.kind = #exec.kernel<library>} {
  %y = graph.contract "ab,bc->ac" %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func @calls(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-error @below {{gate of Lower: 'k' is a library call, but has code}}
  exec.call @k ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) accumulate [0] {exec.code = @k}
  return
}
module @kernels {
}
