// What the optimizer keeps in sixteen bits. The step is f32: what it reads is widened, what it gives is rounded once.
// RUN: xlc-opt %s --split-input-file --xlc-narrow-update="masterless narrow-gradients narrow-states" --xlc-insert-casts --xlc-verify-precision="masterless narrow-gradients narrow-states" | FileCheck %s
// RUN: xlc-opt %s --split-input-file --xlc-narrow-update --xlc-insert-casts --xlc-verify-precision | FileCheck %s --check-prefix=MASTER
// RUN: not xlc-opt %s --split-input-file --xlc-narrow-update=masterless --xlc-insert-casts --xlc-verify-precision 2>&1 | FileCheck %s --check-prefix=PARAMETER
// RUN: not xlc-opt %s --split-input-file --xlc-narrow-update=narrow-gradients --xlc-insert-casts --xlc-verify-precision 2>&1 | FileCheck %s --check-prefix=GRADIENT
// RUN: not xlc-opt %s --split-input-file --xlc-narrow-update=narrow-states --xlc-insert-casts --xlc-verify-precision 2>&1 | FileCheck %s --check-prefix=STATE
// RUN: xlc-opt %s --split-input-file --xlc-narrow-update="masterless narrow-states stochastic" --xlc-insert-casts --xlc-verify-precision="masterless narrow-states stochastic" | FileCheck %s --check-prefix=RANDOM
// RUN: xlc-opt %s --split-input-file --xlc-narrow-update="narrow-states stochastic" --xlc-insert-casts --xlc-verify-precision="narrow-states stochastic" | FileCheck %s --check-prefix=MOVING
// RUN: not xlc-opt %s --split-input-file --xlc-narrow-update="masterless" --xlc-insert-casts --xlc-verify-precision="masterless stochastic" 2>&1 | FileCheck %s --check-prefix=NEAREST
// RUN: not xlc-opt %s --split-input-file --xlc-narrow-update="masterless stochastic" --xlc-insert-casts --xlc-verify-precision="masterless" 2>&1 | FileCheck %s --check-prefix=DRAWN
// NEAREST: error: gate of Precision: 'w' must be rounded stochastically, as set in the spec
// DRAWN: error: gate of Precision: 'w' must be rounded to nearest, as set in the spec
// Each value has a draw of its own.
// RUN: xlc-opt %s --split-input-file --xlc-narrow-update="masterless narrow-states stochastic" --xlc-insert-casts | sed 's/draw 1/draw 0/' | not xlc-opt --split-input-file --xlc-verify-precision="masterless narrow-states stochastic" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: gate of Precision: 'w/momentum' is rounded by the same random bits as another value
// RUN: xlc-opt %s --split-input-file --xlc-narrow-update="masterless narrow-states stochastic" --xlc-insert-casts | sed 's/dense<-5808553574619024987>/dense<-5808541479991114666>/' | not xlc-opt --split-input-file --xlc-verify-precision="masterless narrow-states stochastic" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: gate of Precision: 'b' is rounded by random bits that do not belong to 'b'
// The gate knows what was asked for, and refuses what was not.
// PARAMETER: error: gate of Precision: parameter 'w' is updated with a master of type 'bf16', but the type must be 'f32'
// GRADIENT: error: gate of Precision: a contribution to the gradient of 'w' is rounded before all contributions are added up
// GRADIENT: error: gate of Precision: parameter 'w' is updated with a gradient of type 'bf16', but the type must be 'f32'
// STATE: error: gate of Precision: parameter 'w' is updated with a state of type 'bf16', but the type must be 'f32'
// RUN: not xlc-opt %s --split-input-file --xlc-insert-casts --xlc-verify-precision="masterless narrow-gradients" 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: gate of Precision: parameter 'w' is updated with values of type 'f32', but the type must be 'bf16'
// WIDE: error: gate of Precision: parameter 'w' is updated with a gradient of type 'f32', but the type must be 'bf16'
// WIDE: error: gate of Precision: parameter 'w' is updated with contributions of type 'f32', but the type must be 'bf16'

// A contribution has the type that @update reads: the product rounds its own sums. What is kept stays f32.
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[DW:.*]] = graph.contract {{.*}} : (tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<4x4xbf16>
// CHECK: %[[DB:.*]] = graph.reduce sum {{.*}} -> tensor<4xf32>
// CHECK: %[[DBN:.*]] = graph.cast %[[DB]] {{.*}} -> tensor<4xbf16>
// CHECK: return %{{.*}}, %[[DW]], %[[DBN]], %{{.*}} : tensor<f32>, tensor<4x4xbf16>, tensor<4xbf16>, tensor<4xf32>
// MASTER: -> (tensor<f32>, tensor<4x4xf32> {graph.grad = "w"}, tensor<4xf32> {graph.grad = "b"}, tensor<4xf32> {graph.grad = "k"})
func.func @micro_batch(%w: tensor<4x4xf32> {graph.param = "w"}, %b: tensor<4xf32> {graph.param = "b"},
                       %k: tensor<4xf32> {graph.param = "k", graph.keep}, %x: tensor<2x4xf32> {graph.input = "x"})
    -> (tensor<f32>, tensor<4x4xf32> {graph.grad = "w"}, tensor<4xf32> {graph.grad = "b"}, tensor<4xf32> {graph.grad = "k"}) attributes {graph.entry = #graph.purpose<train>} {
  %y = graph.contract "ab,bc->ac" %x, %w {graph.role = #graph.role<F>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = graph.reduce sum %y dims [0, 1] {graph.role = #graph.role<F>} : tensor<2x4xf32> -> tensor<f32>
  %dw = graph.contract "ab,ac->bc" %x, %y {graph.role = #graph.role<W>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %db = graph.reduce sum %y dims [0] {graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<4xf32>
  %twice = graph.add %y, %y {graph.role = #graph.role<W>} : tensor<2x4xf32>
  %dk = graph.reduce sum %twice dims [0] {graph.role = #graph.role<W>} : tensor<2x4xf32> -> tensor<4xf32>
  return %loss, %dw, %db, %dk : tensor<f32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @update
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xbf16> {graph.param = "w"}
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<4x4xbf16> {graph.grad = "w"}
// CHECK-SAME: tensor<4xbf16> {graph.grad = "b"}
// CHECK-SAME: tensor<4xf32> {graph.grad = "k"}
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<4x4xbf16> {graph.state = "w/momentum"}
// CHECK: %[[P:.*]] = graph.cast %[[W]] {{.*}} -> tensor<4x4xf32>
// CHECK: %[[D:.*]] = graph.cast %[[G]] {{.*}} -> tensor<4x4xf32>
// CHECK: %[[S:.*]] = graph.cast %[[M]] {{.*}} -> tensor<4x4xf32>
// CHECK: %[[P1:.*]], %[[S1:.*]] = graph.optimizer_step sgd %[[P]], %[[D]], %{{.*}} states %[[S]]
// CHECK: %[[W1:.*]] = graph.cast %[[P1]] {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[M1:.*]] = graph.cast %[[S1]] {{.*}} -> tensor<4x4xbf16>
// CHECK: return %[[W1]], %{{.*}}, %{{.*}}, %[[M1]]
// With `stochastic` the parameter takes draw 0 of its bits and the state draw 1; what is f32 takes none. Bits are those of an
// element's place in the parameter; the subsequence is the hash of its name.
// RANDOM-LABEL: func.func @update
// RANDOM: %[[I:.*]] = graph.iota dim 0 {{.*}} : tensor<16xi64>
// RANDOM: %[[E:.*]] = graph.reshape %[[I]] {{.*}} : tensor<16xi64> -> tensor<4x4xi64>
// RANDOM: %[[KEY:.*]] = graph.step_number random_key {{.*}} : tensor<i64>
// RANDOM: %[[KEYS:.*]] = graph.broadcast %[[KEY]] {{.*}} : tensor<i64> -> tensor<4x4xi64>
// RANDOM: %[[NAME:.*]] = graph.constant {{.*}} dense<-5808541479991114666> : tensor<4x4xi64>
// RANDOM: %[[BITS:.*]] = graph.random_bits %[[E]], %[[KEYS]], %[[NAME]] {{.*}} : tensor<4x4xi32>
// RANDOM: %[[P1:.*]], %[[S1:.*]] = graph.optimizer_step sgd
// RANDOM: %[[W1:.*]] = graph.stochastic_cast %[[P1]], %[[BITS]] draw 0 {{.*}} : (tensor<4x4xf32>, tensor<4x4xi32>) -> tensor<4x4xbf16>
// RANDOM: %[[M1:.*]] = graph.stochastic_cast %[[S1]], %[[BITS]] draw 1
// RANDOM: %[[NAME:.*]] = graph.constant {{.*}} dense<-5808553574619024987> : tensor<4xi64>
// RANDOM: graph.random_bits %{{.*}}, %{{.*}}, %[[NAME]]
// RANDOM-NOT: graph.random_bits
// RANDOM: return %[[W1]], %{{.*}}, %{{.*}}, %[[M1]]
// A master moves, so its parameter takes no draw; "b" has no state.
// MOVING-LABEL: func.func @update
// MOVING: dense<-5808541479991114666> : tensor<4x4xi64>
// MOVING: %[[BITS:.*]] = graph.random_bits
// MOVING: %[[P1:.*]], %[[S1:.*]] = graph.optimizer_step sgd
// MOVING: %[[M1:.*]] = graph.stochastic_cast %[[S1]], %[[BITS]] draw 1
// MOVING-NOT: graph.random_bits
// MOVING: return %[[P1]], %{{.*}}, %{{.*}}, %[[M1]]
// MASTER-LABEL: func.func @update
// MASTER-NOT: bf16
// MASTER: return
func.func @update(%w: tensor<4x4xf32> {graph.param = "w"}, %b: tensor<4xf32> {graph.param = "b"}, %k: tensor<4xf32> {graph.param = "k"},
                  %dw: tensor<4x4xf32> {graph.grad = "w"}, %db: tensor<4xf32> {graph.grad = "b"}, %dk: tensor<4xf32> {graph.grad = "k"},
                  %m: tensor<4x4xf32> {graph.state = "w/momentum"}, %numbers: tensor<6xf32> {graph.group = 0 : i64})
    -> (tensor<4x4xf32> {graph.param = "w"}, tensor<4xf32> {graph.param = "b"}, tensor<4xf32> {graph.param = "k"}, tensor<4x4xf32> {graph.state = "w/momentum"}) {
  %w1, %m1 = graph.optimizer_step sgd %w, %dw, %numbers states %m {momentum = 0.9 : f64, graph.role = #graph.role<U>} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<6xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %b1 = graph.optimizer_step sgd %b, %db, %numbers {graph.role = #graph.role<U>} : (tensor<4xf32>, tensor<4xf32>, tensor<6xf32>) -> tensor<4xf32>
  %k1 = graph.optimizer_step sgd %k, %dk, %numbers {graph.role = #graph.role<U>} : (tensor<4xf32>, tensor<4xf32>, tensor<6xf32>) -> tensor<4xf32>
  return %w1, %b1, %k1, %m1 : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>
}

// -----
// An embedding's gradient is summed as f32 row by row, and rounded by who sums it: the table is there once.
// CHECK-LABEL: func.func @micro_batch
// CHECK: graph.scatter_add %{{.*}}, %{{.*}} dim 0 {{.*}} : (tensor<3xi64>, tensor<3x4xf32>) -> tensor<9x4xbf16>
func.func @micro_batch(%w: tensor<9x4xf32> {graph.param = "w"}, %ids: tensor<3xi64> {graph.input = "ids"})
    -> (tensor<f32>, tensor<9x4xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %rows = graph.gather %w, %ids dim 0 {graph.role = #graph.role<F>} : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %loss = graph.reduce sum %rows dims [0, 1] {graph.role = #graph.role<F>} : tensor<3x4xf32> -> tensor<f32>
  %dw = graph.scatter_add %ids, %rows dim 0 {graph.role = #graph.role<W>} : (tensor<3xi64>, tensor<3x4xf32>) -> tensor<9x4xf32>
  return %loss, %dw : tensor<f32>, tensor<9x4xf32>
}
func.func @update(%w: tensor<9x4xf32> {graph.param = "w"}, %dw: tensor<9x4xf32> {graph.grad = "w"}, %numbers: tensor<6xf32> {graph.group = 0 : i64})
    -> (tensor<9x4xf32> {graph.param = "w"}) {
  %w1 = graph.optimizer_step sgd %w, %dw, %numbers {graph.role = #graph.role<U>} : (tensor<9x4xf32>, tensor<9x4xf32>, tensor<6xf32>) -> tensor<9x4xf32>
  return %w1 : tensor<9x4xf32>
}
