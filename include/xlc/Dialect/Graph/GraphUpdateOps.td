// Operations of the `graph` dialect that make a step of gradients: the norm's sum of squares, and the optimizer. Included
// by GraphOps.td, whose classes and types they use.
#ifndef XLC_GRAPH_UPDATE_OPS_TD
#define XLC_GRAPH_UPDATE_OPS_TD

def Graph_SumSquaresOp : Graph_Op<"sum_squares"> {
  let summary = "y = sum of x^2 over all elements, accumulated in double precision";
  let arguments = (ins Graph_Float:$x);
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Graph_OptimizerStepOp : Graph_Op<"optimizer_step", [AllTypesMatch<["param", "grad", "new_param"]>, Graph_ReadsOwnElement]> {
  let summary = "one update of a parameter and its optimizer state, as PyTorch defines it";
  let description = [{
    Element-wise, so a shard is updated like the whole. `scalars` is a tensor of four:
    [lr, scale, correction1, correction2]: learning rate; factor on the gradient (count ratio and
    clipping); for adam and adamw 1 - beta1^t and sqrt(1 - beta2^t), for sgd unused.

        g = scale * grad                                 all
        sgd:   g += wd * p; m = momentum * m + g; p -= lr * m        (no state when momentum = 0)
        adam:  g += wd * p; then as adamw without decay
        adamw: p -= lr * wd * p; m += (1 - b1)(g - m); v = b2 v + (1 - b2) g g;
               p -= lr / correction1 * m / (sqrt(v) / correction2 + eps)

    Hyper-parameters are attributes. States: sgd none or m; adam and adamw m, v.
  }];
  let arguments = (ins Graph_OptimizerAttr:$kind, Graph_Float:$param, Graph_Float:$grad,
      Graph_Float:$scalars, Variadic<Graph_Float>:$states,
      DefaultValuedAttr<F64Attr, "0.0">:$beta1, DefaultValuedAttr<F64Attr, "0.0">:$beta2,
      DefaultValuedAttr<F64Attr, "0.0">:$eps, DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
      DefaultValuedAttr<F64Attr, "0.0">:$momentum);
  let results = (outs Graph_Float:$new_param, Variadic<Graph_Float>:$new_states);
  let assemblyFormat = "$kind $param `,` $grad `,` $scalars (`states` $states^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // XLC_GRAPH_UPDATE_OPS_TD
