// Gradients reach the scores of a query that sees no key where all that forbids is added, and finite; nowhere else.
// RUN: xlc-opt %s --raise-attention --cse | FileCheck %s

// A condition, as numbers that are added.
// CHECK-LABEL: func.func @added
func.func @added(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention none {{.*}} scale 1.000000e+00 {added, uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %m = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %sm = graph.add %s, %m : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// Scores that are replaced are constants.
// CHECK-LABEL: func.func @replaced
func.func @replaced(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention none {{.*}} scale 1.000000e+00 {uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %sm = graph.select %keep, %s, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// Minus infinity leaves a query without keys nothing.
// CHECK-LABEL: func.func @infinite
func.func @infinite(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention none {{.*}} scale 1.000000e+00 :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<0xFF800000> : tensor<2x2x3x3xf32>
  %m = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %sm = graph.add %s, %m : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// A known part, added as numbers beside it.
// CHECK-LABEL: func.func @both_added
func.func @both_added(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention causal {{.*}} scale 1.000000e+00 {added, uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %m = graph.constant dense<[[0.0, -3.4e38, -3.4e38], [0.0, 0.0, -3.4e38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %mb = graph.broadcast %m : tensor<3x3xf32> -> tensor<2x2x3x3xf32>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %m1 = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %near = graph.add %s, %mb : tensor<2x2x3x3xf32>
  %sm = graph.add %near, %m1 : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// The known part has minus infinity.
// CHECK-LABEL: func.func @known_infinite
func.func @known_infinite(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention causal {{.*}} scale 1.000000e+00 {uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %m = graph.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %mb = graph.broadcast %m : tensor<3x3xf32> -> tensor<2x2x3x3xf32>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %m1 = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %near = graph.add %s, %mb : tensor<2x2x3x3xf32>
  %sm = graph.add %near, %m1 : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// The known part replaces.
// CHECK-LABEL: func.func @known_replaced
func.func @known_replaced(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention causal {{.*}} scale 1.000000e+00 {uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %c = graph.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %past = graph.broadcast %c : tensor<3x3xi1> -> tensor<2x2x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %m = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %near = graph.select %past, %s, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %sm = graph.add %near, %m : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// The known part is an expression of positions, which selects what is added,
// CHECK-LABEL: func.func @positions_added
func.func @positions_added(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention causal {{.*}} scale 1.000000e+00 {added, uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %i = graph.iota dim 2 : tensor<2x2x3x3xi32>
  %j = graph.iota dim 3 : tensor<2x2x3x3xi32>
  %past = graph.compare le %j, %i : tensor<2x2x3x3xi32> -> tensor<2x2x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %m = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %m1 = graph.select %past, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %near = graph.add %s, %m1 : tensor<2x2x3x3xf32>
  %sm = graph.add %near, %m : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// or minus infinity.
// CHECK-LABEL: func.func @positions_infinite
func.func @positions_infinite(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention causal {{.*}} scale 1.000000e+00 {uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %i = graph.iota dim 2 : tensor<2x2x3x3xi32>
  %j = graph.iota dim 3 : tensor<2x2x3x3xi32>
  %past = graph.compare le %j, %i : tensor<2x2x3x3xi32> -> tensor<2x2x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %never = graph.constant dense<0xFF800000> : tensor<2x2x3x3xf32>
  %m = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %m1 = graph.select %past, %zero, %never : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %near = graph.add %s, %m1 : tensor<2x2x3x3xf32>
  %sm = graph.add %near, %m : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// A clamp to the lowest number may have taken the score.
// CHECK-LABEL: func.func @clamped
func.func @clamped(%seen: tensor<2x1x1x3xi1>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention none {{.*}} scale 1.000000e+00 {uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %zero = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %m = graph.select %keep, %zero, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %sum = graph.add %s, %m : tensor<2x2x3x3xf32>
  %sm = graph.max %sum, %low : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// Floats that come with the batch are added, whatever they are,
// CHECK-LABEL: func.func @floats
func.func @floats(%seen: tensor<2x1x1x3xi1>, %mask: tensor<2x2x3x3xf32>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention none {{.*}} scale 1.000000e+00 {added} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %sm = graph.add %s, %mask : tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// beside a condition that replaces, too, and then some scores are constants.
// CHECK-LABEL: func.func @floats_and_replaced
func.func @floats_and_replaced(%seen: tensor<2x1x1x3xi1>, %mask: tensor<2x2x3x3xf32>, %q: tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32> {
  // CHECK: graph.attention none {{.*}} scale 1.000000e+00 {uniform} :
  %s = graph.contract "abxy,abzy->abxz" %q, %q : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %keep = graph.broadcast %seen : tensor<2x1x1x3xi1> -> tensor<2x2x3x3xi1>
  %low = graph.constant dense<-3.4e38> : tensor<2x2x3x3xf32>
  %near = graph.add %s, %mask : tensor<2x2x3x3xf32>
  %sm = graph.select %keep, %near, %low : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %p = graph.softmax %sm : tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %p, %q : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}
