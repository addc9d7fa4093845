// Passes of the phase Import that match ops decomposed by exporters, in the order in which they run. All work on
// @forward.
#ifndef XLC_RAISE_PASSES_TD
#define XLC_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldShapesPass : Pass<"fold-shapes", "::mlir::func::FuncOp"> {
  let summary = "fold transposes into contractions and move reshapes until they meet their inverse";
  let description = [{
    Exporters flatten batch and sequence around every product and transpose stored weights. A contraction names its
    dimensions, so it needs neither:

        %0 = graph.reshape %x : tensor<4x32x64xf32> -> tensor<128x64xf32>
        %1 = graph.transpose %w [1, 0] : tensor<192x64xf32> -> tensor<64x192xf32>
        %2 = graph.contract "ab,bc->ac" %0, %1
        %3 = graph.reshape %2 : tensor<128x192xf32> -> tensor<4x32x192xf32>

    becomes

        %3 = graph.contract "adb,cb->adc" %x, %w

    A bias between contraction and reshape moves along. If all operands of an element-wise op are repeated along a
    dimension, the op is computed once along it, and its result is repeated.
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def RaiseAttentionPass : Pass<"raise-attention", "::mlir::func::FuncOp"> {
  let summary = "recognise softmax(scale Q K^T + mask) V as graph.attention";
  let description = [{
    The scale may be on queries, keys, both, or the scores, before or after the mask; keys may be repeated for groups of
    heads, dimensions swapped, flattened and split. A mask is matched by its value: zero (or true) if key <= query and
    very negative (or false) elsewhere is causal, regardless of the ops that compute it; so are windows. A mask that
    depends on an input becomes the op's bias. The guard against rows whose keys are all masked, select(is_nan(p), 0,
    p), is removed, because the op handles these. Attention with a learned bias is not raised.

        %s = graph.contract "abcx,abdx->abcd" %q, %k
        %m = graph.add %s, %mask
        %p = graph.softmax %m
        %y = graph.contract "abcd,abdx->abcx" %p, %v

    becomes, with queries, keys and values as [batch, sequence, heads, width],

        %y, %lse = graph.attention causal %q, %k, %v scale 0.25
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def SettleRowsPass : Pass<"settle-rows", "::mlir::func::FuncOp"> {
  let summary = "give rows of a softmax that are all minus infinity zeros without an intermediate NaN";
  let description = [{
    For attention that was not raised and has a query whose keys are all masked. PyTorch's scaled_dot_product_attention
    returns zeros, and files express this by a guard after the softmax. The gradient of that softmax would still be NaN.

        %p = graph.softmax %s
        %n = graph.is_nan %p
        %y = graph.select %n, %zero, %p

    becomes

        %m = graph.reduce max %s dims [1]
        %h = graph.compare eq %m, %minus_infinity
        %t = graph.select broadcast(%h), %zero, %s
        %p = graph.softmax %t
        %y = graph.select broadcast(%h), %zero, %p
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def RaiseNormsPass : Pass<"raise-norms", "::mlir::func::FuncOp"> {
  let summary = "recognise x / sqrt(mean of x^2 + epsilon) as graph.rms_norm or graph.layer_norm";
  let description = [{
    Layer norm if x is centred first. The form may divide by the root or multiply by its reciprocal; weight and bias are
    included if they follow, and are ones and zeros otherwise.

        %2 = graph.reduce sum %xx dims [2]     // xx = x * x
        %3 = graph.scale %2 by 1 over 64
        %4 = graph.sqrt %e                     // e = %3 + epsilon
        %5 = graph.div %x, %r                  // r: %4 along the rows
        %6 = graph.mul %5, %w

    becomes

        %6, %rstd = graph.rms_norm %x, %weight {epsilon = 1.0e-6 : f64}
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def RaiseGeluPass : Pass<"raise-gelu", "::mlir::func::FuncOp"> {
  let summary = "recognise x/2 (1 + tanh(...)) and x/2 (1 + erf(...)) as graph.gelu";
  let description = [{
    Independent of the association of the products: the argument of tanh or erf is matched as a polynomial in x.

        %0 = graph.tanh %u          // u = 0.797885 x + 0.0356774 x^3
        %1 = graph.add %0, %one
        %2 = graph.mul %x, %half
        %3 = graph.mul %2, %1

    becomes

        %3 = graph.gelu tanh %x
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def RaiseSiluPass : Pass<"raise-silu", "::mlir::func::FuncOp"> {
  let summary = "recognise 1 / (1 + e^-x) as graph.sigmoid and x times it as graph.silu";
  let description = [{
    x / (1 + e^-cx), as in SwiGLU (c = 1) and the quick GELU (c = 1.702), is silu(cx) / c. Backward then keeps only x.

        %1 = graph.neg %x
        %2 = graph.exp %1
        %3 = graph.add %one, %2
        %4 = graph.div %one, %3
        %5 = graph.mul %x, %4

    becomes

        %5 = graph.silu %x
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

def DecomposeNamedOpsPass : Pass<"decompose-named-ops", "::mlir::func::FuncOp"> {
  let summary = "expand norms, activations, softmax, cross_entropy and attention into small ops";
  let description = [{
    The model of `--no-raise`: the same mathematics without ops that have their own kernels.

        %y = graph.softmax %x : tensor<4x8xf32>

    becomes

        %m = graph.reduce max %x dims [1]
        %d = graph.sub %x, broadcast(reshape(%m))
        %e = graph.exp %d
        %s = graph.reduce sum %e dims [1]
        %y = graph.div %e, broadcast(reshape(%s))
  }];
  let dependentDialects = ["::xlc::graph::GraphDialect"];
}

#endif // XLC_RAISE_PASSES_TD
