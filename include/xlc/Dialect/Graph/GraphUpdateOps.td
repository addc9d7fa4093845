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

def Graph_LossScaleOp : Graph_Op<"loss_scale"> {
  let summary = "the factor on the loss in this step, a number that the program holds";
  let description = [{
    The module attribute `graph.loss_scale` says how it begins and moves. No kernel computes it: a function reads it where
    the step's scalars are.

    Example:

    ```mlir
    %scale = graph.loss_scale : tensor<f32>
    ```
  }];
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
}

def Graph_RandomBitsOp : Graph_Op<"random_bits", [Graph_ReadsOwnElement]> {
  let summary = "32 random bits for each element of what is updated, in this step";
  let description = [{
    A function of the seed, of the step, and of which element of which parameter it is, so that any layout of ranks draws
    the same. No op computes them: the runtime gives a kernel those of the elements that it works on. In @update
    `parameter` says whose elements they are; a kernel runs on a bucket, whose members say so.

    ```mlir
    %bits = graph.random_bits "w" : tensor<8xi32>
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$parameter);
  let results = (outs StaticShapeTensorOf<[I32]>:$y);
  let assemblyFormat = "($parameter^)? attr-dict `:` type($y)";
}

def Graph_OptimizerStepOp : Graph_Op<"optimizer_step", [AllTypesMatch<["param", "grad", "new_param"]>, Graph_ReadsOwnElement]> {
  let summary = "one update of a parameter and its optimizer state, as PyTorch defines it";
  let description = [{
    Element-wise, so a shard is updated like the whole. `kind` names a row of Optimizers.cpp, which has the formula, the
    states and the hyper-parameters that the rule takes; those are attributes. `scalars` is a tensor of five, for all
    parameters of a group: [learning rate, factor on the gradient (count ratio and clipping), 1 - beta1^t,
    sqrt(1 - beta2^t), 1 where the step is applied], t being the number of the step. Where the last is 0, the parameter and
    its states stay as they are, whatever the gradient is.

    Example:

    ```mlir
    %p1, %m1 = graph.optimizer_step sgd %p, %g, %scalars states %m {momentum = 0.9 : f64}
        : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$kind, Graph_Float:$param, Graph_Float:$grad,
      Graph_Float:$scalars, Variadic<Graph_Float>:$states,
      DefaultValuedAttr<F64Attr, "0.0">:$beta1, DefaultValuedAttr<F64Attr, "0.0">:$beta2,
      DefaultValuedAttr<F64Attr, "0.0">:$eps, DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
      DefaultValuedAttr<F64Attr, "0.0">:$momentum);
  let results = (outs Graph_Float:$new_param, Variadic<Graph_Float>:$new_states);
  let assemblyFormat = "custom<Keyword>($kind) $param `,` $grad `,` $scalars (`states` $states^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// The row of the kind; the verifier knows that there is one.
    const xlc::Optimizer &getRule();
  }];
  let hasVerifier = 1;
}

#endif // XLC_GRAPH_UPDATE_OPS_TD
