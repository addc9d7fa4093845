// The loss scale: backward begins with it, @scalars divides by it, and goes on after a step that is skipped.
// RUN: xlc-opt %s --xlc-differentiate --xlc-append-update --xlc-scale-loss --xlc-insert-casts=compute=f16 --xlc-verify-precision=compute=f16 | FileCheck %s
// Without one nothing changes.
// RUN: sed 's/graph.loss_scale = .*}, graph.clip/graph.clip/' %s | xlc-opt --xlc-differentiate --xlc-append-update > %t.before
// RUN: xlc-opt %t.before --xlc-scale-loss | diff %t.before -
// A module that is no step.
// RUN: echo 'module attributes {graph.loss_scale = {initial = 8.0 : f64, window = 2 : i64, hysteresis = 1 : i64, min = 1.0 : f64, dynamic = true}} {}' | not xlc-opt --xlc-scale-loss 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: the module must have a training entry and a function @scalars
// RUN: echo 'module attributes {graph.loss_scale = {initial = 8.0 : f64}} {}' | not xlc-opt 2>&1 | FileCheck %s --check-prefix=PART
// PART: graph.loss_scale must have initial and min (f64), window and hysteresis (i64), and dynamic (bool)

module attributes {graph.nominal_count = 8 : i64, graph.loss_scale = {initial = 65536.0 : f64, window = 2000 : i64, hysteresis = 1 : i64, min = 1.0 : f64, dynamic = true}, graph.clip_norm = 0.25 : f64, graph.groups = [
    {kind = "sgd", lr = 0.1 : f64, weight_decay = 0.0 : f64, momentum = 0.9 : f64}]} {
// CHECK-LABEL: func.func @micro_batch
// CHECK: %[[SEED:.*]] = graph.scale %{{.*}} by 1 over 8 {{.*}}graph.seed
// CHECK-NEXT: %[[SCALE:.*]] = graph.step_number loss_scale
// CHECK-NEXT: %[[SCALED:.*]] = graph.mul %[[SEED]], %[[SCALE]]
// CHECK: graph.cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}}, %[[SCALED]]
func.func @forward(%w: tensor<3x4xf32> {graph.param = "w", graph.group = 0 : i64}, %x: tensor<2x3xf32> {graph.input = "x"},
                   %labels: tensor<2xi64> {graph.input = "y"}) -> (tensor<f32>, tensor<i64>) {
  %0 = graph.contract "ab,bc->ac" %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %sum, %count, %lse = graph.cross_entropy %0, %labels ignore -100
      : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<i64>, tensor<2xf32>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[SQUARES:[a-z0-9]+]]: tensor<f64>, %[[SCALE:[a-z0-9]+]]: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK: %[[ONE:.*]] = graph.constant dense<1.0{{.*}}> : tensor<f32>
// CHECK: %[[WIDE:.*]] = graph.cast %[[SCALE]]
// CHECK: %[[ONCE:.*]] = graph.div %[[SQUARES]], %[[WIDE]]
// CHECK: %[[TRUE:.*]] = graph.div %[[ONCE]], %[[WIDE]]
// The norm, and with it what clipping does, is that of the true gradient.
// CHECK: graph.sqrt %[[TRUE]]
// A step that is skipped skips no others: what would be the step before is 1.
// CHECK: %[[SKIPPED:.*]] = graph.is_nan
// CHECK: %[[APPLIED:.*]] = graph.select %[[SKIPPED]], %{{.*}}, %[[ONE]] :
// CHECK: %[[FACTOR:.*]] = graph.div %{{.*}}, %[[SCALE]] : tensor<f32>
// CHECK: return %{{.*}}, %{{.*}}, %[[FACTOR]], %[[APPLIED]]

// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[NUMBERS:[a-z0-9]+]]: tensor<6xf32> {graph.group = 0 : i64}
// CHECK: graph.optimizer_step sgd %{{.*}}, %{{.*}}, %[[NUMBERS]] states
}
