// Element-wise ops, against values from their definitions.
// RUN: xlc-opt --xlc-interpret %s | FileCheck %s
// RUN: xlc-opt --xlc-interpret=arithmetic=f32 %s | FileCheck %s

// CHECK: // neg.0: tensor<3xf32> [1, -0, -2.5]
// CHECK: // neg.1: tensor<2xi64> [-3, 4]
func.func @neg() -> (tensor<3xf32>, tensor<2xi64>) {
  %x = graph.constant dense<[-1.0, 0.0, 2.5]> : tensor<3xf32>
  %i = graph.constant dense<[3, -4]> : tensor<2xi64>
  %0 = graph.neg %x : tensor<3xf32>
  %1 = graph.neg %i : tensor<2xi64>
  return %0, %1 : tensor<3xf32>, tensor<2xi64>
}

// CHECK: // abs_sign.0: tensor<3xf32> [1, 0, 2.5]
// CHECK: // abs_sign.1: tensor<3xf32> [-1, 0, 1]
// CHECK: // abs_sign.2: tensor<3xi32> [-1, 0, 1]
func.func @abs_sign() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) {
  %x = graph.constant dense<[-1.0, 0.0, 2.5]> : tensor<3xf32>
  %i = graph.constant dense<[-7, 0, 9]> : tensor<3xi32>
  %0 = graph.abs %x : tensor<3xf32>
  %1 = graph.sign %x : tensor<3xf32>
  %2 = graph.sign %i : tensor<3xi32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi32>
}

// CHECK: // functions.0: tensor<2xf32> [1, 2.71828]
// CHECK: // functions.1: tensor<2xf32> [0, 0.693147]
// CHECK: // functions.2: tensor<2xf32> [1, 1.41421]
// CHECK: // functions.3: tensor<2xf32> [0, 0.761594]
// CHECK: // functions.4: tensor<2xf32> [0, 0.842701]
// CHECK: // functions.5: tensor<2xf32> [0, 0.841471]
// CHECK: // functions.6: tensor<2xf32> [1, 0.540302]
// CHECK: // functions.7: tensor<2xf32> [1, 8]
func.func @functions() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %p = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %three = graph.constant dense<3.0> : tensor<2xf32>
  %0 = graph.exp %x : tensor<2xf32>
  %1 = graph.log %p : tensor<2xf32>
  %2 = graph.sqrt %p : tensor<2xf32>
  %3 = graph.tanh %x : tensor<2xf32>
  %4 = graph.erf %x : tensor<2xf32>
  %5 = graph.sin %x : tensor<2xf32>
  %6 = graph.cos %x : tensor<2xf32>
  %7 = graph.pow %p, %three : tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK: // logic.0: tensor<4xi1> [1, 0, 0, 0]
// CHECK: // logic.1: tensor<4xi1> [1, 1, 1, 0]
// CHECK: // logic.2: tensor<4xi1> [0, 0, 1, 1]
func.func @logic() -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %a = graph.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = graph.constant dense<[true, false, true, false]> : tensor<4xi1>
  %0 = graph.and %a, %b : tensor<4xi1>
  %1 = graph.or %a, %b : tensor<4xi1>
  %2 = graph.not %a : tensor<4xi1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK: // arithmetic.0: tensor<2xf64> [5, 2]
// CHECK: // arithmetic.1: tensor<2xf64> [1, -6]
// CHECK: // arithmetic.2: tensor<2xf64> [6, -8]
// CHECK: // arithmetic.3: tensor<2xf64> [1.5, -0.5]
// CHECK: // arithmetic.4: tensor<2xf64> [3, 4]
// CHECK: // arithmetic.5: tensor<2xf64> [2, -2]
func.func @arithmetic() -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %a = graph.constant dense<[3.0, -2.0]> : tensor<2xf64>
  %b = graph.constant dense<[2.0, 4.0]> : tensor<2xf64>
  %0 = graph.add %a, %b : tensor<2xf64>
  %1 = graph.sub %a, %b : tensor<2xf64>
  %2 = graph.mul %a, %b : tensor<2xf64>
  %3 = graph.div %a, %b : tensor<2xf64>
  %4 = graph.max %a, %b : tensor<2xf64>
  %5 = graph.min %a, %b : tensor<2xf64>
  return %0, %1, %2, %3, %4, %5 : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// Integers divide towards zero; a NaN stays in max and min, from either side.
// CHECK: // corners.0: tensor<2xi64> [-3, 3]
// CHECK: // corners.1: tensor<2xf32> [nan, nan]
// CHECK: // corners.2: tensor<2xf32> [nan, nan]
// CHECK: // corners.3: tensor<2xi1> [1, 0]
func.func @corners() -> (tensor<2xi64>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>) {
  %i = graph.constant dense<[-7, 7]> : tensor<2xi64>
  %two = graph.constant dense<2> : tensor<2xi64>
  %0 = graph.div %i, %two : tensor<2xi64>
  %a = graph.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %b = graph.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %1 = graph.max %a, %b : tensor<2xf32>
  %2 = graph.min %a, %b : tensor<2xf32>
  %3 = graph.is_nan %a : tensor<2xf32> -> tensor<2xi1>
  return %0, %1, %2, %3 : tensor<2xi64>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>
}

// CHECK: // casts.0: tensor<3xi64> [-1, 0, 2]
// CHECK: // casts.1: tensor<3xi1> [1, 0, 1]
// CHECK: // casts.2: tensor<2xf32> [3, -4]
// CHECK: // casts.3: tensor<2xi32> [3, -4]
func.func @casts() -> (tensor<3xi64>, tensor<3xi1>, tensor<2xf32>, tensor<2xi32>) {
  %x = graph.constant dense<[-1.5, 0.0, 2.5]> : tensor<3xf32>
  %i = graph.constant dense<[3, -4]> : tensor<2xi64>
  %0 = graph.cast %x : tensor<3xf32> -> tensor<3xi64>
  %1 = graph.cast %x : tensor<3xf32> -> tensor<3xi1>
  %2 = graph.cast %i : tensor<2xi64> -> tensor<2xf32>
  %3 = graph.cast %i : tensor<2xi64> -> tensor<2xi32>
  return %0, %1, %2, %3 : tensor<3xi64>, tensor<3xi1>, tensor<2xf32>, tensor<2xi32>
}

// CHECK: // choices.0: tensor<2xf32> [0.75, -1.5]
// CHECK: // choices.1: tensor<3xi1> [1, 0, 0]
// CHECK: // choices.2: tensor<3xi1> [1, 1, 0]
// CHECK: // choices.3: tensor<3xi1> [0, 1, 0]
// CHECK: // choices.4: tensor<3xi1> [0, 0, 1]
// CHECK: // choices.5: tensor<3xi1> [0, 1, 1]
// CHECK: // choices.6: tensor<3xi1> [1, 0, 1]
// CHECK: // choices.7: tensor<3xi64> [1, 5, 5]
func.func @choices() -> (tensor<2xf32>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi64>) {
  %x = graph.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %0 = graph.scale %x by 3 over 4 : tensor<2xf32>
  %a = graph.constant dense<[1, 5, 9]> : tensor<3xi64>
  %b = graph.constant dense<5> : tensor<3xi64>
  %1 = graph.compare lt %a, %b : tensor<3xi64> -> tensor<3xi1>
  %2 = graph.compare le %a, %b : tensor<3xi64> -> tensor<3xi1>
  %3 = graph.compare eq %a, %b : tensor<3xi64> -> tensor<3xi1>
  %4 = graph.compare gt %a, %b : tensor<3xi64> -> tensor<3xi1>
  %5 = graph.compare ge %a, %b : tensor<3xi64> -> tensor<3xi1>
  %6 = graph.compare ne %a, %b : tensor<3xi64> -> tensor<3xi1>
  %7 = graph.select %1, %a, %b : tensor<3xi1>, tensor<3xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xf32>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi64>
}

// CHECK: // whole.0: tensor<3xf32> [-2, -0, 1]
// CHECK: // whole.1: tensor<2xf32> [0, 0.785398]
func.func @whole() -> (tensor<3xf32>, tensor<2xf32>) {
  %x = graph.constant dense<[-1.5, -0.0, 1.9]> : tensor<3xf32>
  %y = graph.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0 = graph.floor %x : tensor<3xf32>
  %1 = graph.atan %y : tensor<2xf32>
  return %0, %1 : tensor<3xf32>, tensor<2xf32>
}
