// Both cuts of three units are as fast, so memory decides: that of b is added to stage 0, which keeps residuals of two
// micro-batches, or to stage 1, which has the parameter of c.
// RUN: xlc-opt %s --xlc-append-update --xlc-test-set-mesh=pp=2 --xlc-assign-stages=micro-batches=2 | FileCheck %s --check-prefix=LIGHT
// RUN: sed 's/kind = "sgd"/kind = "adamw"/' %s | xlc-opt --xlc-append-update --xlc-test-set-mesh=pp=2 --xlc-assign-stages=micro-batches=2 \
// RUN:   | FileCheck %s --check-prefix=HEAVY
// RUN: sed 's/kind = "sgd"/kind = "adamw"/' %s | xlc-opt --xlc-append-update --xlc-narrow-update="narrow-gradients narrow-states" \
// RUN:   --xlc-test-set-mesh=pp=2 --xlc-assign-stages=micro-batches=2 | FileCheck %s --check-prefix=LIGHT
// RUN: sed -e 's/kind = "sgd"/kind = "adamw"/' -e 's/graph.param = "w", graph.group/graph.frozen, &/' %s \
// RUN:   | xlc-opt --xlc-append-update --xlc-test-set-mesh=pp=2 --xlc-assign-stages=micro-batches=2 | FileCheck %s --check-prefix=LIGHT

// Stage 0 with a and b: 1024 bytes of residuals. Stage 1 with b and c: 256 of residuals and, with sgd, 512 of w and its gradient.
// LIGHT: graph.tanh {{.*}}graph.chunk = 0{{.*}}<"a", 0>
// LIGHT: graph.tanh {{.*}}graph.chunk = 1{{.*}}<"b", 0>
// LIGHT: graph.mul {{.*}}graph.chunk = 1{{.*}}<"c", 0>
// With two states of adamw it would have 1280, and gradient and states of 16 bits make 640 of them. A frozen w has neither.
// HEAVY: graph.tanh {{.*}}graph.chunk = 0{{.*}}<"a", 0>
// HEAVY: graph.tanh {{.*}}graph.chunk = 0{{.*}}<"b", 0>
// HEAVY: graph.mul {{.*}}graph.chunk = 1{{.*}}<"c", 0>
module attributes {graph.nominal_count = 8 : i64, graph.groups = [
    {kind = "sgd", lr = 0.1 : f64, beta1 = 0.9 : f64, beta2 = 0.99 : f64, eps = 1.0e-8 : f64, weight_decay = 0.0 : f64, momentum = 0.0 : f64}]} {
func.func @micro_batch(%x: tensor<64xf32> {graph.input = "x"}, %w: tensor<64xf32> {graph.param = "w", graph.group = 0 : i64}, %sum: tensor<f32> {graph.input = "sum"},
                       %count: tensor<i64> {graph.input = "count"}) -> (tensor<f32>, tensor<i64>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32> {graph.grad = "w"}) attributes {graph.entry = #graph.purpose<train>} {
  %0 = graph.tanh %x {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<F>} : tensor<64xf32>
  %1 = graph.tanh %0 {graph.unit = #graph.unit<"b", 0>, graph.role = #graph.role<F>} : tensor<64xf32>
  %2 = graph.mul %1, %w {graph.unit = #graph.unit<"c", 0>, graph.role = #graph.role<F>} : tensor<64xf32>
  %dw = graph.mul %x, %x {graph.unit = #graph.unit<"c", 0>, graph.role = #graph.role<W>} : tensor<64xf32>
  %db = graph.mul %1, %1 {graph.unit = #graph.unit<"b", 0>, graph.role = #graph.role<I>} : tensor<64xf32>
  %da = graph.mul %0, %0 {graph.unit = #graph.unit<"a", 0>, graph.role = #graph.role<I>} : tensor<64xf32>
  return %sum, %count, %db, %da, %dw : tensor<f32>, tensor<i64>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
}
