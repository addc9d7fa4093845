// Sums with much to read are sums of sums; those with little are left as they are.
// RUN: xlc-opt --xlc-target=cuda %s --xlc-split-reductions --split-input-file | FileCheck %s

// The chunks of the rows that a divisor makes: 8192 = 256 x 32.
// CHECK-LABEL: @columns_partial
// CHECK:         %[[CUT:.*]] = graph.reshape %{{.*}} : tensor<8192x64xf32> -> tensor<256x32x64xf32>
// CHECK:         %[[SUMS:.*]] = graph.reduce sum %[[CUT]] dims [1] : tensor<256x32x64xf32> -> tensor<256x64xf32>
// CHECK:         return %[[SUMS]]
// CHECK-LABEL: @columns(
// CHECK-SAME:    %[[SUMS:.*]]: tensor<256x64xf32>)
// CHECK:         graph.reduce sum %[[SUMS]] dims [0] : tensor<256x64xf32> -> tensor<64xf32>
func.func private @columns(%x: tensor<8192x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<8192x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
// CHECK-LABEL: func.func private @unit
// CHECK:         %[[PARTIAL:.*]] = call @columns_partial(%[[X:.*]]) {exec.name = ["partial sums"]}
// CHECK:         call @columns(%[[PARTIAL]])
func.func private @unit(%x: tensor<8192x64xf32>) -> tensor<64xf32> {
  %y = call @columns(%x) : (tensor<8192x64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// What stands before the sum goes with the chunks, what comes after it stays; each has the arguments that it reads. Two sums are
// cut alike.
// CHECK-LABEL: @totals_partial
// CHECK-SAME:    (%{{.*}}: tensor<8192xf32>, %{{.*}}: tensor<8192xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {exec.kind = #exec.kernel<rows>}
// CHECK-DAG:     graph.mul
// CHECK-DAG:     graph.reduce sum %{{.*}} dims [1] : tensor<8x1024xf32> -> tensor<8xf32>
// CHECK-DAG:     graph.reduce max %{{.*}} dims [1] : tensor<8x1024xf32> -> tensor<8xf32>
// CHECK-LABEL: @totals(
// CHECK-SAME:    %{{.*}}: tensor<f32>, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32>)
// CHECK-SAME:    exec.kind = #exec.kernel<all>
// CHECK-NOT:     tensor<8192xf32>
// CHECK:         graph.add
func.func private @totals(%a: tensor<8192xf32>, %scale: tensor<f32>, %b: tensor<8192xf32>) -> tensor<f32> attributes {exec.kind = #exec.kernel<all>} {
  %0 = graph.mul %a, %b : tensor<8192xf32>
  %1 = graph.reduce sum %0 dims [0] : tensor<8192xf32> -> tensor<f32>
  %2 = graph.reduce max %a dims [0] : tensor<8192xf32> -> tensor<f32>
  %3 = graph.mul %1, %scale : tensor<f32>
  %4 = graph.add %3, %2 : tensor<f32>
  return %4 : tensor<f32>
}

// -----

// Few rows, a prime number of rows, a sum of what a sum has made, rows.
// CHECK-NOT: _partial
func.func private @few(%x: tensor<16x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<16x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @prime(%x: tensor<4099x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<4099x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @chained(%x: tensor<8192xf32>) -> tensor<f32> attributes {exec.kind = #exec.kernel<all>} {
  %0 = graph.reduce max %x dims [0] : tensor<8192xf32> -> tensor<f32>
  %1 = graph.broadcast %0 : tensor<f32> -> tensor<8192xf32>
  %2 = graph.sub %x, %1 : tensor<8192xf32>
  %3 = graph.reduce sum %2 dims [0] : tensor<8192xf32> -> tensor<f32>
  return %3 : tensor<f32>
}
func.func private @rows(%x: tensor<64x4096xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<rows>} {
  %y = graph.reduce sum %x dims [1] : tensor<64x4096xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
