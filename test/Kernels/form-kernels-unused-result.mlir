// A library call writes all that it has, also what nobody reads: here the gradient of constant queries.
// RUN: xlc-opt %s --xlc-form-kernels | FileCheck %s
// CHECK: func.func private @[[K:kernel_[0-9]+]]({{.*}}) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) attributes {exec.kind = #exec.kernel<library>}
// CHECK: func.func private @layer_B
// CHECK: %[[D:.*]]:3 = call @[[K]]
// CHECK: return %[[D]]#1, %[[D]]#2
func.func private @layer_B(%q: tensor<1x2x1x2xf32>, %k: tensor<1x2x1x2xf32>, %v: tensor<1x2x1x2xf32>,
    %out: tensor<1x2x1x2xf32>, %lse: tensor<1x1x2xf64>, %dout: tensor<1x2x1x2xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) {
  %dq, %dk, %dv = graph.attention_backward causal %q, %k, %v, %out, %lse, %dout scale 0.5 {graph.role = #graph.role<I>} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x1x2xf64>, tensor<1x2x1x2xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>)
  return %dk, %dv : tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>
}
