// A guard behind a softmax that is no attention's any more: its rows of minus infinity are thrown away before it, so that
// no NaN meets the gradient. What is no guard stays.
// RUN: xlc-opt %s --settle-rows | FileCheck %s
// RUN: xlc-opt %s --settle-rows --xlc-interpret=function=guarded | FileCheck %s --check-prefix=VALUES

// CHECK-LABEL: func.func @guarded
func.func @guarded() -> tensor<2x2xf32> {
  // CHECK: %[[S:.*]] = graph.constant dense
  // CHECK: %[[MOST:.*]] = graph.reduce max %[[S]] dims [1]
  // CHECK: %[[HIDDEN:.*]] = graph.compare eq %[[MOST]]
  // CHECK: %[[T:.*]] = graph.select %{{.*}}, %{{.*}}, %[[S]]
  // CHECK: %[[P:.*]] = graph.softmax %[[T]]
  // CHECK: %[[Y:.*]] = graph.select %{{.*}}, %{{.*}}, %[[P]]
  // CHECK-NOT: graph.is_nan
  // CHECK: return %[[Y]]
  // VALUES: // guarded.0: tensor<2x2xf32> [0.5, 0.5, 0, 0]
  %s = graph.constant dense<[[0.0, 0.0], [0xFF800000, 0xFF800000]]> : tensor<2x2xf32>
  %p = graph.softmax %s : tensor<2x2xf32>
  %n = graph.is_nan %p : tensor<2x2xf32> -> tensor<2x2xi1>
  %z = graph.constant dense<0.0> : tensor<2x2xf32>
  %y = graph.select %n, %z, %p : tensor<2x2xi1>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @other_value
// CHECK: graph.is_nan
func.func @other_value(%s: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %p = graph.softmax %s : tensor<2x2xf32>
  %n = graph.is_nan %p : tensor<2x2xf32> -> tensor<2x2xi1>
  %z = graph.constant dense<1.0> : tensor<2x2xf32>
  %y = graph.select %n, %z, %p : tensor<2x2xi1>, tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
