// Sums that a function has for others, and that have little to read, are one kernel at its end.
// RUN: xlc-opt --xlc-target=cuda %s --xlc-merge-sums | FileCheck %s
// RUN: xlc-opt --xlc-target=cpu %s --xlc-merge-sums | FileCheck %s --check-prefix=CPU

// CHECK-NOT:  @a(
// CHECK-NOT:  @b(
// CHECK:      func.func private @a_merged(%[[A:.*]]: tensor<8x64xf32>, %[[B:.*]]: tensor<4x96xf32>, %[[C:.*]]: tensor<4x96xf32>) -> (tensor<64xf32>, tensor<96xf32>, tensor<96xf32>) attributes {exec.kind = #exec.kernel<columns>}
// CHECK-NEXT:   %[[X:.*]] = graph.reduce sum %[[A]] dims [0]
// CHECK-NEXT:   %[[Y:.*]] = graph.reduce sum %[[B]] dims [0]
// CHECK-NEXT:   %[[Z:.*]] = graph.reduce max %[[C]] dims [0]
// CHECK-NEXT:   return %[[X]], %[[Y]], %[[Z]]
func.func private @a(%x: tensor<8x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<8x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @b(%x: tensor<4x96xf32>, %y: tensor<4x96xf32>) -> (tensor<96xf32>, tensor<96xf32>) attributes {exec.kind = #exec.kernel<columns>} {
  %0 = graph.reduce sum %x dims [0] : tensor<4x96xf32> -> tensor<96xf32>
  %1 = graph.reduce max %y dims [0] : tensor<4x96xf32> -> tensor<96xf32>
  return %0, %1 : tensor<96xf32>, tensor<96xf32>
}
// It has something else to do, and it has much to read.
func.func private @scaled(%x: tensor<8x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %0 = graph.reduce sum %x dims [0] : tensor<8x64xf32> -> tensor<64xf32>
  %y = graph.neg %0 : tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @large(%x: tensor<32768x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<32768x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func private @negate(%x: tensor<64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<loop>} {
  %y = graph.neg %x : tensor<64xf32>
  return %y : tensor<64xf32>
}

// A view of a sum goes with it.
// CHECK-LABEL: @unit
// CHECK-NEXT:    %[[N:.*]] = call @negate
// CHECK-NEXT:    %[[S:.*]]:3 = call @a_merged(%{{.*}}, %{{.*}}, %{{.*}}) {exec.name = ["first", "second", "third"]}
// CHECK-NEXT:    %[[V:.*]] = graph.reshape %[[S]]#0
// CHECK-NEXT:    return %[[V]], %[[S]]#1, %[[S]]#2, %[[N]]
// CPU-LABEL:   @unit
// CPU-NEXT:      call @a
func.func private @unit(%x: tensor<8x64xf32>, %y: tensor<4x96xf32>, %v: tensor<64xf32>) -> (tensor<8x8xf32>, tensor<96xf32>, tensor<96xf32>, tensor<64xf32>) {
  %0 = call @a(%x) {exec.name = ["first"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %1 = graph.reshape %0 : tensor<64xf32> -> tensor<8x8xf32>
  %2:2 = call @b(%y, %y) {exec.name = ["second", "third"]} : (tensor<4x96xf32>, tensor<4x96xf32>) -> (tensor<96xf32>, tensor<96xf32>)
  %3 = call @negate(%v) {exec.name = ["n"]} : (tensor<64xf32>) -> tensor<64xf32>
  return %1, %2#0, %2#1, %3 : tensor<8x8xf32>, tensor<96xf32>, tensor<96xf32>, tensor<64xf32>
}

// The same ones again are the same kernel.
// CHECK-LABEL: @again
// CHECK-NEXT:    call @a_merged
func.func private @again(%x: tensor<8x64xf32>, %y: tensor<4x96xf32>) -> (tensor<64xf32>, tensor<96xf32>, tensor<96xf32>) {
  %0 = call @a(%x) {exec.name = ["first"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %1:2 = call @b(%y, %y) {exec.name = ["second", "third"]} : (tensor<4x96xf32>, tensor<4x96xf32>) -> (tensor<96xf32>, tensor<96xf32>)
  return %0, %1#0, %1#1 : tensor<64xf32>, tensor<96xf32>, tensor<96xf32>
}

// CHECK-LABEL: @apart
// CHECK-NEXT:    call @scaled
// CHECK-NEXT:    call @scaled
// CHECK-NEXT:    call @large
// CHECK-NEXT:    %[[A:.*]] = call @large
// CHECK-NEXT:    call @negate(%[[A]])
func.func private @apart(%x: tensor<8x64xf32>, %y: tensor<32768x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = call @scaled(%x) {exec.name = ["a"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %1 = call @scaled(%x) {exec.name = ["b"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %2 = call @large(%y) {exec.name = ["c"]} : (tensor<32768x64xf32>) -> tensor<64xf32>
  %3 = call @large(%y) {exec.name = ["d"]} : (tensor<32768x64xf32>) -> tensor<64xf32>
  %4 = call @negate(%3) {exec.name = ["e"]} : (tensor<64xf32>) -> tensor<64xf32>
  return %0, %1, %2, %4 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

func.func private @c(%x: tensor<8x64xf32>) -> tensor<64xf32> attributes {exec.kind = #exec.kernel<columns>} {
  %y = graph.reduce sum %x dims [0] : tensor<8x64xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// As many as have room in a block's shared memory: 16 sums of f32, and the next begins another.
// CHECK-LABEL: @many
// CHECK-NEXT:    %[[B:.*]] = call @c(
// CHECK-NEXT:    %[[A:.*]]:16 = call @c_merged
// CHECK-NEXT:    return
func.func private @many(%x: tensor<8x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %1 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %2 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %3 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %4 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %5 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %6 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %7 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %8 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %9 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %10 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %11 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %12 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %13 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %14 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %15 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  %16 = call @c(%x) {exec.name = ["s"]} : (tensor<8x64xf32>) -> tensor<64xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
