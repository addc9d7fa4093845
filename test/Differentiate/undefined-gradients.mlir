// Results through which no gradient is defined.
// RUN: split-file %s %t
// RUN: not xlc-opt %t/product.mlir --xlc-differentiate 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: not xlc-opt %t/mean.mlir --xlc-differentiate 2>&1 | FileCheck %s --check-prefix=MEAN
// RUN: not xlc-opt %t/deviation.mlir --xlc-differentiate 2>&1 | FileCheck %s --check-prefix=DEVIATION
// RUN: not xlc-opt %t/attention.mlir --xlc-differentiate 2>&1 | FileCheck %s --check-prefix=ATTENTION
// RUN: not xlc-opt %t/bias.mlir --xlc-differentiate 2>&1 | FileCheck %s --check-prefix=BIAS
// RUN: not xlc-opt %t/rms.mlir --xlc-differentiate 2>&1 | FileCheck %s --check-prefix=RMS
// RUN: not xlc-opt %t/loss.mlir --xlc-differentiate 2>&1 | FileCheck %s --check-prefix=LOSS

//--- product.mlir
// PRODUCT: error: the gradient of a product of 4097 elements is not supported; the maximum is 4096 elements
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<4097xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %0 = graph.reduce prod %w dims [0] : tensor<4097xf32> -> tensor<f32>
  %1 = graph.constant dense<1> : tensor<i64>
  return %0, %1 : tensor<f32>, tensor<i64>
}
}

//--- mean.mlir
// MEAN: error: the gradient through the mean of a layer norm is not defined
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<2xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %y, %mean, %rstd = graph.layer_norm %w, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>)
  %1 = graph.constant dense<1> : tensor<i64>
  return %mean, %1 : tensor<f32>, tensor<i64>
}
}

//--- deviation.mlir
// DEVIATION: error: the gradient through the reciprocal standard deviation of a layer norm is not defined
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<2xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %y, %mean, %rstd = graph.layer_norm %w, %w, %w {epsilon = 1.0e-5 : f64} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>)
  %1 = graph.constant dense<1> : tensor<i64>
  return %rstd, %1 : tensor<f32>, tensor<i64>
}
}

//--- bias.mlir
// BIAS: error: the gradient of attention's bias is not defined
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<1x1x1x1xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %out, %lse = graph.attention none %w, %w, %w bias %w scale 1.0 : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>)
  %0 = graph.reshape %out : tensor<1x1x1x1xf32> -> tensor<f32>
  %1 = graph.constant dense<1> : tensor<i64>
  return %0, %1 : tensor<f32>, tensor<i64>
}
}

//--- rms.mlir
// RMS: error: the gradient through the reciprocal root mean square of an RMS norm is not defined
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<2xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %y, %rstd = graph.rms_norm %w, %w {epsilon = 1.0e-5 : f64} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
  %1 = graph.constant dense<1> : tensor<i64>
  return %rstd, %1 : tensor<f32>, tensor<i64>
}
}

//--- attention.mlir
// ATTENTION: error: the gradient through the log-sum-exp of attention is not defined
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<1x1x1x2xf32> {graph.param = "w"}) -> (tensor<f32>, tensor<i64>) {
  %out, %lse = graph.attention causal %w, %w, %w scale 1.0 : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1xf32>)
  %0 = graph.reshape %lse : tensor<1x1x1xf32> -> tensor<f32>
  %1 = graph.constant dense<1> : tensor<i64>
  return %0, %1 : tensor<f32>, tensor<i64>
}
}

//--- loss.mlir
// LOSS: error: the gradient through the log-sum-exp of a cross-entropy is not defined
module attributes {graph.nominal_count = 1 : i64} {
func.func @forward(%w: tensor<1x2xf32> {graph.param = "w"}, %y: tensor<1xi64> {graph.input = "y"}) -> (tensor<f32>, tensor<i64>) {
  %sum, %count, %lse = graph.cross_entropy %w, %y ignore -100 : (tensor<1x2xf32>, tensor<1xi64>) -> (tensor<f32>, tensor<i64>, tensor<1xf32>)
  %0 = graph.reshape %lse : tensor<1xf32> -> tensor<f32>
  return %0, %count : tensor<f32>, tensor<i64>
}
}
