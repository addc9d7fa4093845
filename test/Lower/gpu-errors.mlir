// RUN: xlc-opt %s --xlc-emit-gpu-kernels --split-input-file --verify-diagnostics

func.func private @k(%x: tensor<8xf64>) -> tensor<8xf64> attributes {exec.kind = #exec.kernel<loop>} {
  // expected-error @below {{programs for GPUs do not support 'graph.exp' of 'f64' yet}}
  %y = graph.exp %x : tensor<8xf64>
  return %y : tensor<8xf64>
}
func.func @calls(%x: memref<8xf64>) {
  exec.call @k ins(%x : memref<8xf64>) outs(%x : memref<8xf64>) accumulate [0]
  return
}

// -----

func.func private @k(%x: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kind = #exec.kernel<loop>} {
  // expected-error @below {{programs for GPUs do not support 'graph.pow' of 'f32' yet}}
  %y = graph.pow %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @calls(%x: memref<8xf32>) {
  exec.call @k ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) accumulate [0]
  return
}

// -----

func.func private @k(%x: tensor<8xf32>) -> tensor<8xf32> attributes {exec.kind = #exec.kernel<loop>} {
  // expected-error @below {{programs for GPUs do not support 'graph.atan' of 'f32' yet}}
  %y = graph.atan %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @calls(%x: memref<8xf32>) {
  exec.call @k ins(%x : memref<8xf32>) outs(%x : memref<8xf32>) accumulate [0]
  return
}

// -----

// expected-error @below {{programs for GPUs do not support kernels with more than 32 accumulated results}}
func.func private @k(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {exec.kind = #exec.kernel<loop>} {
  return %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @calls(%x: memref<4xf32>) {
  exec.call @k ins(%x : memref<4xf32>) outs(%x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) accumulate [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
  return
}
