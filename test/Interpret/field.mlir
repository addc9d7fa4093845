// The finite field: exact, whatever the order; -inf is absent; ratios cancel.
// RUN: xlc-opt --xlc-interpret=arithmetic=field %s | FileCheck %s
// RUN: xlc-opt --xlc-interpret="arithmetic=field seed=7" %s | FileCheck %s

// 1/3 summed three times is 1; 0.1 is k 2^e, so 0.1 x 10 is not 1 but the same as its sum.
// CHECK: // exact.0: tensor<f64> [1]
// CHECK: // exact.1: tensor<f64> [0]
func.func @exact() -> (tensor<f64>, tensor<f64>) {
  %one = graph.constant dense<1.0> : tensor<3xf64>
  %third = graph.scale %one by 1 over 3 : tensor<3xf64>
  %0 = graph.reduce sum %third dims [0] : tensor<3xf64> -> tensor<f64>
  %a = graph.constant dense<0.1> : tensor<f64>
  %b = graph.constant dense<0.3> : tensor<f64>
  %c = graph.add %a, %b : tensor<f64>
  %d = graph.sub %c, %b : tensor<f64>
  %1 = graph.sub %d, %a : tensor<f64>
  return %0, %1 : tensor<f64>, tensor<f64>
}

// exp of the absent element is 0 and max ignores it; a row of nothing else is undefined.
// CHECK: // absent.0: tensor<3xf64> [1, 0, 0]
// CHECK: // absent.1: tensor<f64> [-3]
// CHECK: // absent.2: tensor<2xi1> [1, 1]
func.func @absent() -> (tensor<3xf64>, tensor<f64>, tensor<2xi1>) {
  %x = graph.constant dense<[-3.0, 0xFFF0000000000000, 0xFFF0000000000000]> : tensor<3xf64>
  %0 = graph.softmax %x : tensor<3xf64>
  %1 = graph.reduce max %x dims [0] : tensor<3xf64> -> tensor<f64>
  %none = graph.slice %x from [1] by [1] : tensor<3xf64> -> tensor<2xf64>
  %s = graph.softmax %none : tensor<2xf64>
  %2 = graph.is_nan %s : tensor<2xf64> -> tensor<2xi1>
  return %0, %1, %2 : tensor<3xf64>, tensor<f64>, tensor<2xi1>
}

// exp is some function: equal at equal arguments, elsewhere not.
// CHECK: // function.0: tensor<i1> [1]
// CHECK: // function.1: tensor<i1> [0]
func.func @function() -> (tensor<i1>, tensor<i1>) {
  %x = graph.constant dense<0.25> : tensor<f64>
  %y = graph.constant dense<0.75> : tensor<f64>
  %z = graph.scale %y by 1 over 3 : tensor<f64>
  %ex = graph.exp %x : tensor<f64>
  %ey = graph.exp %y : tensor<f64>
  %ez = graph.exp %z : tensor<f64>
  %0 = graph.compare eq %ex, %ez : tensor<f64> -> tensor<i1>
  %1 = graph.compare eq %ex, %ey : tensor<f64> -> tensor<i1>
  return %0, %1 : tensor<i1>, tensor<i1>
}

// Elements are ordered as signed numbers, so relu takes both branches.
// CHECK: // signed.0: tensor<2xf64> [0, 2]
func.func @signed() -> tensor<2xf64> {
  %x = graph.constant dense<[-2.0, 2.0]> : tensor<2xf64>
  %zero = graph.constant dense<0.0> : tensor<2xf64>
  %0 = graph.max %x, %zero : tensor<2xf64>
  return %0 : tensor<2xf64>
}

// Zero has no inverse.
// CHECK: // inverse.0: tensor<2xf64> [nan, 1]
func.func @inverse() -> tensor<2xf64> {
  %x = graph.constant dense<[0.0, 2.0]> : tensor<2xf64>
  %0 = graph.div %x, %x : tensor<2xf64>
  return %0 : tensor<2xf64>
}
