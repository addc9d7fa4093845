// What is stopped has no cotangent, and nothing is left of the stop; a padding row gets none from its lookup.
// RUN: xlc-opt %s --xlc-differentiate --canonicalize --cse | FileCheck %s
// CHECK-LABEL: func.func @micro_batch
// CHECK-SAME: -> (tensor<f32>, tensor<i64>, tensor<6x2xf32> {graph.grad = "t"})
// CHECK: %[[Y:.*]] = graph.gather %arg0, %arg1 dim 0 {graph.padding = 4 : i64
// CHECK: %[[S:.*]] = graph.sin %[[Y]]
// CHECK: graph.mul %[[Y]], %[[S]]
// CHECK-NOT: stop_gradient
// CHECK-NOT: graph.cos
// CHECK-DAG: %[[DY:.*]] = graph.mul %{{.*}}, %[[S]]
// CHECK-DAG: %[[ROW:.*]] = graph.constant {{.*}}dense<4> : tensor<i64>
// CHECK-DAG: %[[ROWS:.*]] = graph.broadcast %[[ROW]]
// CHECK: %[[IS:.*]] = graph.compare eq %arg1, %[[ROWS]]
// CHECK: %[[COLUMN:.*]] = graph.reshape %[[IS]] {{.*}} tensor<3xi1> -> tensor<3x1xi1>
// CHECK: %[[ALL:.*]] = graph.broadcast %[[COLUMN]]
// CHECK: %[[OWN:.*]] = graph.select %[[ALL]], %{{.*}}, %[[DY]]
// CHECK: %[[DT:.*]] = graph.scatter_add %arg1, %[[OWN]] dim 0
// CHECK: return %{{.*}}, %{{.*}}, %[[DT]]
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%t: tensor<6x2xf32> {graph.param = "t"}, %ids: tensor<3xi64> {graph.input = "ids"}) -> (tensor<f32>, tensor<i64>) {
  %0 = graph.gather %t, %ids dim 0 {graph.padding = 4 : i64} : (tensor<6x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %1 = graph.sin %0 : tensor<3x2xf32>
  %2 = graph.stop_gradient %1 : tensor<3x2xf32>
  %3 = graph.mul %0, %2 : tensor<3x2xf32>
  %4 = graph.reduce sum %3 dims [0, 1] : tensor<3x2xf32> -> tensor<f32>
  %c = graph.constant dense<1> : tensor<i64>
  return %4, %c : tensor<f32>, tensor<i64>
}
}
