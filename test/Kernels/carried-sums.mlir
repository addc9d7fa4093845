// A kernel over rows sums the columns of what it reads and makes on its way: a norm's gradient those of its weight's, and the bias's of what
// comes before it.
// RUN: xlc-opt --xlc-target=cuda %s --xlc-form-kernels --split-input-file | FileCheck %s
// RUN: xlc-opt --xlc-target=cuda %s --xlc-form-kernels --xlc-split-reductions --split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: xlc-opt --xlc-target=cpu %s --xlc-form-kernels --split-input-file | FileCheck %s --check-prefix=CPU

// CHECK:      func.func private @kernel_0(%{{.*}}) -> (tensor<64xf32>, tensor<64xf32>, tensor<4x16x64xf32>, tensor<64xf32>) attributes {exec.kind = #exec.kernel<rows>}
// CHECK:        graph.layer_norm_backward
// CHECK:        graph.layer_norm_weight_backward
// CHECK:        graph.add
// CHECK:        graph.reduce sum %{{.*}} dims [0] : tensor<64x64xf32> -> tensor<64xf32>
// CHECK-LABEL: func.func private @backward
// CHECK:        call @kernel_0
// CHECK-NOT:    call
// CPU-LABEL:   func.func private @backward
// CPU-COUNT-3:  call @kernel
// SPLIT:      func.func private @kernel_0(%{{.*}}) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<4x16x64xf32>, tensor<8x64xf32>) attributes {exec.kind = #exec.kernel<rows>}
// SPLIT:      func.func private @kernel_0_sums(%[[A:.*]]: tensor<8x64xf32>, %[[B:.*]]: tensor<8x64xf32>, %[[C:.*]]: tensor<8x64xf32>)
// SPLIT-SAME:   exec.kind = #exec.kernel<columns>
// SPLIT-NEXT:   graph.reduce sum %[[A]] dims [0] : tensor<8x64xf32> -> tensor<64xf32>
// SPLIT-LABEL: func.func private @backward
// SPLIT-NEXT:   %[[ALL:.*]]:4 = call @kernel_0(%{{.*}}) {exec.name = ["partial sums", "partial sums", "", "partial sums"]}
// SPLIT-NEXT:   %[[SUMS:.*]]:3 = call @kernel_0_sums(%[[ALL]]#0, %[[ALL]]#1, %[[ALL]]#3)
// SPLIT-NEXT:   return %[[ALL]]#2, %[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2
func.func private @backward(%x: tensor<4x16x64xf32>, %w: tensor<64xf32>, %m: tensor<4x16xf32>, %r: tensor<4x16xf32>, %dy: tensor<4x16x64xf32>, %residual: tensor<4x16x64xf32>)
    -> (tensor<4x16x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = graph.layer_norm_backward %x, %w, %m, %r, %dy : (tensor<4x16x64xf32>, tensor<64xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
  %dw, %db = graph.layer_norm_weight_backward %x, %m, %r, %dy : (tensor<4x16x64xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16x64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %dx = graph.add %0, %residual : tensor<4x16x64xf32>
  %rows = graph.reshape %dx : tensor<4x16x64xf32> -> tensor<64x64xf32>
  %bias = graph.reduce sum %rows dims [0] : tensor<64x64xf32> -> tensor<64xf32>
  return %dx, %dw, %db, %bias : tensor<4x16x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Who needs such a sum begins a kernel of its own, even where it looks like a value of the row.
// CHECK-LABEL: func.func private @needed
// CHECK:         %[[Y:.*]]:2 = call @kernel_0
// CHECK:         %[[S:.*]] = call @kernel_1(%[[Y]]#1)
// CHECK:         return %[[Y]]#0, %[[S]]
func.func private @needed(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %y = graph.softmax %x : tensor<64x64xf32>
  %s = graph.reduce sum %y dims [0] : tensor<64x64xf32> -> tensor<64xf32>
  %z = graph.exp %s : tensor<64xf32>
  return %y, %z : tensor<64x64xf32>, tensor<64xf32>
}

// -----

// Not: of what the kernel does not read; of rows that vectors do not divide; of few rows; of longer rows than have registers.
// CHECK-LABEL: func.func private @others
// CHECK-COUNT-2: call @kernel
func.func private @others(%x: tensor<64x64xf32>, %other: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %y = graph.softmax %x : tensor<64x64xf32>
  %s = graph.reduce sum %other dims [0] : tensor<64x64xf32> -> tensor<64xf32>
  return %y, %s : tensor<64x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func private @odd
// CHECK-COUNT-2: call @kernel
func.func private @odd(%x: tensor<64x63xf32>) -> (tensor<64x63xf32>, tensor<63xf32>) {
  %y = graph.softmax %x : tensor<64x63xf32>
  %s = graph.reduce sum %y dims [0] : tensor<64x63xf32> -> tensor<63xf32>
  return %y, %s : tensor<64x63xf32>, tensor<63xf32>
}
// CHECK-LABEL: func.func private @few
// CHECK-COUNT-2: call @kernel
func.func private @few(%x: tensor<12x64xf32>) -> (tensor<12x64xf32>, tensor<64xf32>) {
  %y = graph.softmax %x : tensor<12x64xf32>
  %s = graph.reduce sum %y dims [0] : tensor<12x64xf32> -> tensor<64xf32>
  return %y, %s : tensor<12x64xf32>, tensor<64xf32>
}
// CHECK-LABEL: func.func private @long
// CHECK-COUNT-2: call @kernel
func.func private @long(%x: tensor<64x8192xf32>) -> (tensor<64x8192xf32>, tensor<8192xf32>) {
  %y = graph.softmax %x : tensor<64x8192xf32>
  %s = graph.reduce sum %y dims [0] : tensor<64x8192xf32> -> tensor<8192xf32>
  return %y, %s : tensor<64x8192xf32>, tensor<8192xf32>
}
