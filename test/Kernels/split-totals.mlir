// On CPUs sums over all elements are sums of sums, so that threads share the chunks: as many whatever the number of threads.
// RUN: xlc-opt %s --xlc-split-reductions --split-input-file | FileCheck %s

// Four chunks of 16384. What is read is widened with them; what was made of the sum stays behind it.
// CHECK-LABEL: @norm_partial
// CHECK-SAME:    (%{{.*}}: tensor<65536xbf16>) -> tensor<4xf64> attributes {exec.kind = #exec.kernel<rows>}
// CHECK:         %[[CUT:.*]] = graph.reshape %{{.*}} : tensor<65536xf64> -> tensor<4x16384xf64>
// CHECK:         %[[SUMS:.*]] = graph.reduce sum %[[CUT]] dims [1] : tensor<4x16384xf64> -> tensor<4xf64>
// CHECK:         return %[[SUMS]]
// CHECK-LABEL: @norm(
// CHECK-SAME:    %[[SUMS:.*]]: tensor<4xf64>) -> tensor<f64> attributes {exec.kind = #exec.kernel<all>}
// CHECK:         graph.reduce sum %[[SUMS]] dims [0] : tensor<4xf64> -> tensor<f64>
// CHECK:         graph.mul
func.func private @norm(%x: tensor<65536xbf16>) -> tensor<f64> attributes {exec.kind = #exec.kernel<all>} {
  %0 = graph.cast %x : tensor<65536xbf16> -> tensor<65536xf32>
  %1 = graph.sum_squares %0 : tensor<65536xf32> -> tensor<f64>
  %2 = graph.scale %1 by 1 over 2 : tensor<f64>
  return %2 : tensor<f64>
}
// CHECK-LABEL: @unit
// CHECK:         %[[PARTIAL:.*]] = call @norm_partial(%{{.*}}) {exec.name = ["partial sums"]}
// CHECK:         call @norm(%[[PARTIAL]])
func.func private @unit(%x: tensor<65536xbf16>) -> tensor<f64> {
  %y = call @norm(%x) : (tensor<65536xbf16>) -> tensor<f64>
  return %y : tensor<f64>
}

// -----

// At most 1024 chunks, as many as divide: 50257 x 768 = 928 x 41592.
// CHECK-LABEL: @embedding_partial
// CHECK:         graph.reduce max %{{.*}} dims [1] : tensor<928x41592xf32> -> tensor<928xf32>
func.func private @embedding(%x: tensor<50257x768xf32>) -> tensor<f32> attributes {exec.kind = #exec.kernel<all>} {
  %y = graph.reduce max %x dims [0, 1] : tensor<50257x768xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// A column alone is shared like a total.
// CHECK-LABEL: @column_partial
// CHECK:         graph.reduce sum %{{.*}} dims [1] : tensor<4x16384x1xf32> -> tensor<4x1xf32>
func.func private @column(%x: tensor<65536x1xf32>) -> tensor<1xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<65536x1xf32> -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// Too few to wake a thread for; columns, which threads share already.
// CHECK-NOT: _partial
func.func private @few(%x: tensor<32704xf32>) -> tensor<f32> attributes {exec.kind = #exec.kernel<all>} {
  %y = graph.reduce sum %x dims [0] : tensor<32704xf32> -> tensor<f32>
  return %y : tensor<f32>
}
func.func private @columns(%x: tensor<65536x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<65536x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
