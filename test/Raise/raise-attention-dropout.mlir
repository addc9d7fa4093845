// A Dropout between softmax and the second product is the op's own: its random words are counted row by row of the scores.
// RUN: xlc-opt %s --raise-attention --cse | FileCheck %s

// As Import writes it: element = sample * 18 + head * 9 + query * 3 + key.
// CHECK-LABEL: func.func @dropped
// CHECK-SAME: %[[SAMPLE:[^:]*]]: tensor<2xi64>
func.func @dropped(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x3x4xf32>, %v: tensor<2x2x3x4xf32>, %sample: tensor<2xi64>) -> tensor<2x2x3x4xf32> {
  // CHECK-DAG: %[[KEY:.*]] = graph.step_number random_key
  // CHECK-DAG: %[[SITE:.*]] = graph.site 7
  // CHECK-DAG: %[[NUMBER:.*]] = graph.broadcast %{{.*}} : tensor<2x1xi64> -> tensor<2x2xi64>
  // CHECK-DAG: %[[ROW:.*]] = graph.constant dense<18> : tensor<2x2xi64>
  // CHECK-DAG: %[[SAMPLES:.*]] = graph.mul %[[NUMBER]], %[[ROW]]
  // CHECK-DAG: %[[HEAD:.*]] = graph.iota dim 0 : tensor<2xi64>
  // CHECK-DAG: %[[MATRIX:.*]] = graph.constant dense<9> : tensor<2x2xi64>
  // CHECK: %[[FIRST:.*]] = graph.add %[[SAMPLES]], %{{.*}} : tensor<2x2xi64>
  // CHECK: %[[COLUMN:.*]] = graph.reshape %[[FIRST]] : tensor<2x2xi64> -> tensor<2x2x1xi64>
  // CHECK: %[[KEYS:.*]] = graph.broadcast %[[KEY]] : tensor<i64> -> tensor<2x2x1xi64>
  // CHECK: %[[SITES:.*]] = graph.broadcast %[[SITE]] : tensor<i64> -> tensor<2x2x1xi64>
  // CHECK: %[[DRAWS:.*]] = graph.concat %[[COLUMN]], %[[KEYS]], %[[SITES]] dim 2
  // CHECK: graph.attention none {{.*}} dropping 2.500000e-01 by %[[DRAWS]] scale 1.000000e+00
  // CHECK-NOT: graph.random_bits
  // CHECK: return
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xf32>
  %p = graph.softmax %s : tensor<2x2x3x3xf32>
  %i3 = graph.iota dim 3 : tensor<2x2x3x3xi64>
  %i2 = graph.iota dim 2 : tensor<2x2x3x3xi64>
  %c3 = graph.constant dense<3> : tensor<2x2x3x3xi64>
  %rows = graph.mul %i2, %c3 : tensor<2x2x3x3xi64>
  %a = graph.add %i3, %rows : tensor<2x2x3x3xi64>
  %i1 = graph.iota dim 1 : tensor<2x2x3x3xi64>
  %c9 = graph.constant dense<9> : tensor<2x2x3x3xi64>
  %matrices = graph.mul %i1, %c9 : tensor<2x2x3x3xi64>
  %b = graph.add %a, %matrices : tensor<2x2x3x3xi64>
  %alone = graph.reshape %sample : tensor<2xi64> -> tensor<2x1x1x1xi64>
  %numbers = graph.broadcast %alone : tensor<2x1x1x1xi64> -> tensor<2x2x3x3xi64>
  %c18 = graph.constant dense<18> : tensor<2x2x3x3xi64>
  %samples = graph.mul %numbers, %c18 : tensor<2x2x3x3xi64>
  %element = graph.add %b, %samples : tensor<2x2x3x3xi64>
  %key = graph.step_number random_key : tensor<i64>
  %site = graph.site 7 : tensor<i64>
  %keys = graph.broadcast %key : tensor<i64> -> tensor<2x2x3x3xi64>
  %sites = graph.broadcast %site : tensor<i64> -> tensor<2x2x3x3xi64>
  %words = graph.random_bits %element, %keys, %sites : tensor<2x2x3x3xi32>
  %zero = graph.constant dense<0> : tensor<2x2x3x3xi32>
  %upper = graph.compare lt %words, %zero : tensor<2x2x3x3xi32> -> tensor<2x2x3x3xi1>
  %least = graph.constant dense<1073741824> : tensor<2x2x3x3xi32>
  %above = graph.compare ge %words, %least : tensor<2x2x3x3xi32> -> tensor<2x2x3x3xi1>
  %kept = graph.or %upper, %above : tensor<2x2x3x3xi1>
  %scaled = graph.scale %p by 4 over 3 : tensor<2x2x3x3xf32>
  %none = graph.constant dense<0.0> : tensor<2x2x3x3xf32>
  %d = graph.select %kept, %scaled, %none : tensor<2x2x3x3xi1>, tensor<2x2x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %d, %v : (tensor<2x2x3x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// One word for a whole row of scores is none of attention's: it stays what it is. So does a scale that is not 1 / (1 - ratio).
// CHECK-LABEL: func.func @others
func.func @others(%q: tensor<1x1x3x4xf32>, %k: tensor<1x1x3x4xf32>, %v: tensor<1x1x3x4xf32>) -> (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) {
  // CHECK-NOT: graph.attention
  %s = graph.contract "abxy,abzy->abxz" %q, %k : (tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x3xf32>
  %p = graph.softmax %s : tensor<1x1x3x3xf32>
  %i2 = graph.iota dim 2 : tensor<1x1x3x3xi64>
  %i3 = graph.iota dim 3 : tensor<1x1x3x3xi64>
  %c3 = graph.constant dense<3> : tensor<1x1x3x3xi64>
  %rows = graph.mul %i2, %c3 : tensor<1x1x3x3xi64>
  %element = graph.add %rows, %i3 : tensor<1x1x3x3xi64>
  %key = graph.step_number random_key : tensor<i64>
  %site = graph.site 0 : tensor<i64>
  %keys = graph.broadcast %key : tensor<i64> -> tensor<1x1x3x3xi64>
  %sites = graph.broadcast %site : tensor<i64> -> tensor<1x1x3x3xi64>
  %zero = graph.constant dense<0> : tensor<1x1x3x3xi32>
  %none = graph.constant dense<0.0> : tensor<1x1x3x3xf32>
  %byRow = graph.random_bits %i2, %keys, %sites : tensor<1x1x3x3xi32>
  %keptByRow = graph.compare lt %byRow, %zero : tensor<1x1x3x3xi32> -> tensor<1x1x3x3xi1>
  %twice = graph.scale %p by 2 over 1 : tensor<1x1x3x3xf32>
  %d = graph.select %keptByRow, %twice, %none : tensor<1x1x3x3xi1>, tensor<1x1x3x3xf32>
  %y = graph.contract "abxy,abyz->abxz" %d, %v : (tensor<1x1x3x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  %words = graph.random_bits %element, %keys, %sites : tensor<1x1x3x3xi32>
  %kept = graph.compare lt %words, %zero : tensor<1x1x3x3xi32> -> tensor<1x1x3x3xi1>
  %thrice = graph.scale %p by 3 over 1 : tensor<1x1x3x3xf32>
  %e = graph.select %kept, %thrice, %none : tensor<1x1x3x3xi1>, tensor<1x1x3x3xf32>
  %z = graph.contract "abxy,abyz->abxz" %e, %v : (tensor<1x1x3x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32>
  return %y, %z : tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>
}
