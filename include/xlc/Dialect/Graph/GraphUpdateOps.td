// Operations of the `graph` dialect that turn gradients into a step: the sum of squares for the norm, and the
// optimizer. Included by GraphOps.td, whose classes and types they use.
#ifndef XLC_GRAPH_UPDATE_OPS_TD
#define XLC_GRAPH_UPDATE_OPS_TD

def Graph_SumSquaresOp : Graph_Op<"sum_squares"> {
  let summary = "y = sum of x^2 over all elements, accumulated in double precision";
  let arguments = (ins Graph_Float:$x);
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Graph_StepNumberOp : Graph_Op<"step_number", [Graph_Held]> {
  let summary = "a number of the step that is stored by the program";
  let description = [{
    `number` names a row of include/xlc/Runtime/StepNumbers.h that occurs once in a step: `loss_scale`, the factor on
    the loss (the module attribute `graph.loss_scale` defines its initial value and its changes), and `random_key`, the
    key of the step's random bits. It is not computed by a kernel: a function reads it from the numbers of the step.

    Example:

    ```mlir
    %scale = graph.step_number loss_scale : tensor<f32>
    %key = graph.step_number random_key : tensor<i64>
    ```
  }];
  let arguments = (ins StrAttr:$number);
  let results = (outs StaticShapeTensorOf<[F32, I64]>:$y);
  let assemblyFormat = "custom<Keyword>($number) attr-dict `:` type($y)";
  let extraClassDeclaration = [{
    /// The row of the number; the verifier ensures that there is one.
    ::xlc::runtime::StepNumber getStepNumber() { return *::xlc::runtime::findStepNumber(getNumber()); }
  }];
  let builders = [OpBuilder<(ins "::xlc::runtime::StepNumber":$number)>];
  let hasVerifier = 1;
}

def Graph_SiteOp : Graph_Op<"site", [Graph_Held]> {
  let summary = "the subsequence of a node of the model that draws random bits";
  let description = [{
    `site` is the node's number among those that draw random bits, from 0, in the order of the file. Its random bits
    have the subsequence of the site in include/xlc/Runtime/Philox.h. Layers that differ only in their sites form one
    class: Stage passes sites to unit functions as arguments.

    ```mlir
    %site = graph.site 3 : tensor<i64>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$site);
  let results = (outs 0DTensorOf<[I64]>:$y);
  let assemblyFormat = "$site attr-dict `:` type($y)";
  let builders = [OpBuilder<(ins "int64_t":$site), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get({}, $_builder.getI64Type()), site);
  }]>];
}

def Graph_OptimizerStepOp : Graph_Op<"optimizer_step", [AllTypesMatch<["param", "grad", "new_param"]>, Graph_ReadsOwnElement]> {
  let summary = "one update of a parameter and its optimizer state, as PyTorch defines it";
  let description = [{
    Element-wise, so a shard is updated like the whole. `kind` names a row of Optimizers.cpp, which has the formula, the
    states and the hyper-parameters of the rule; the hyper-parameters are attributes. `scalars` is a tensor of the six
    numbers that all parameters of a group share, in the order of include/xlc/Runtime/StepNumbers.h: [learning rate,
    factor on the gradient (count ratio and clipping), 1 - beta1^t, sqrt(1 - beta2^t), 1 if the step is applied, D,
    which is 0 up to and including step `ema_start` and then `ema_decay`], where t is the number of the step. If the
    step is not applied, the parameter and its states are unchanged for every gradient. With `clip_value`, elements of
    the gradient are limited to this magnitude after the factor. With `ema_decay`, the last state is an average of the
    parameter: D times itself plus 1 - D times the new parameter.

    Example:

    ```mlir
    %p1, %m1 = graph.optimizer_step sgd %p, %g, %scalars states %m {momentum = 0.9 : f64}
        : (tensor<4xf32>, tensor<4xf32>, tensor<6xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$kind, Graph_Float:$param, Graph_Float:$grad,
      Graph_Float:$scalars, Variadic<Graph_Float>:$states,
      DefaultValuedAttr<F64Attr, "0.0">:$beta1, DefaultValuedAttr<F64Attr, "0.0">:$beta2,
      DefaultValuedAttr<F64Attr, "0.0">:$eps, DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
      DefaultValuedAttr<F64Attr, "0.0">:$momentum, OptionalAttr<F64Attr>:$clip_value,
      OptionalAttr<F64Attr>:$ema_decay, OptionalAttr<I64Attr>:$ema_start);
  let results = (outs Graph_Float:$new_param, Variadic<Graph_Float>:$new_states);
  let assemblyFormat = "custom<Keyword>($kind) $param `,` $grad `,` $scalars (`states` $states^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// The row of the kind; the verifier ensures that there is one.
    const xlc::Optimizer &getRule();
  }];
  let hasVerifier = 1;
}

#endif // XLC_GRAPH_UPDATE_OPS_TD
