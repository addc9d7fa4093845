// Operations of the `graph` dialect that compute each element of a result from the elements with the same indices.
// Included by GraphOps.td, whose classes and types they use.
#ifndef XLC_GRAPH_ELEMENTWISE_OPS_TD
#define XLC_GRAPH_ELEMENTWISE_OPS_TD

class Graph_Unary<string mnemonic, Type type, string formula, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([SameOperandsAndResultType, Graph_Elementwise], traits)> {
  let summary = formula;
  let arguments = (ins type:$x);
  let results = (outs type:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
def Graph_NegOp     : Graph_Unary<"neg", Graph_Number, "y = -x", [Graph_Additive]>;
def Graph_AbsOp     : Graph_Unary<"abs", Graph_Number, "y = |x|">;
def Graph_SignOp    : Graph_Unary<"sign", Graph_Number, "y = -1, 0 or 1">;
def Graph_ExpOp     : Graph_Unary<"exp", Graph_Float, "y = e^x">;
def Graph_LogOp     : Graph_Unary<"log", Graph_Float, "y = ln x">;
def Graph_SqrtOp    : Graph_Unary<"sqrt", Graph_Float, "y = square root of x">;
def Graph_TanhOp    : Graph_Unary<"tanh", Graph_Float, "y = hyperbolic tangent of x">;
def Graph_ErfOp     : Graph_Unary<"erf", Graph_Float, "y = error function of x">;
def Graph_SinOp     : Graph_Unary<"sin", Graph_Float, "y = sine of x">;
def Graph_CosOp     : Graph_Unary<"cos", Graph_Float, "y = cosine of x">;
def Graph_SigmoidOp : Graph_Unary<"sigmoid", Graph_Float, "y = 1 / (1 + e^-x)">;
def Graph_AtanOp    : Graph_Unary<"atan", Graph_Float, "y = arc tangent of x">;
def Graph_FloorOp   : Graph_Unary<"floor", Graph_Float, "y = largest integer that is not above x">;
def Graph_NotOp     : Graph_Unary<"not", Graph_Bool, "y = not x">;

def Graph_IsNanOp : Graph_Op<"is_nan", [SameOperandsAndResultShape, Graph_Elementwise]> {
  let summary = "y = whether x is not a number";
  let arguments = (ins Graph_Float:$x);
  let results = (outs Graph_Bool:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Graph_CastOp : Graph_Op<"cast", [SameOperandsAndResultShape, Graph_Elementwise, Graph_Additive]> {
  let summary = "y = x converted to another element type (float to integer truncates)";
  let description = [{
    A cast to bf16 and f16 rounds to nearest, ties to even. Subnormal numbers, infinities and NaN are kept; numbers that
    are too large become infinite. The other type must be f32: from f64 a number would be rounded twice.

    ```mlir
    %narrow = graph.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins Graph_Stored:$x);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

class Graph_Counts<string operand> : TypesMatchWith<"'" # operand # "' has 64 bits for each element", "y", operand,
    "::llvm::cast<::mlir::ShapedType>($_self).clone(::mlir::IntegerType::get($_self.getContext(), 64))">;
def Graph_RandomBitsOp : Graph_Op<"random_bits", [SameOperandsAndResultShape, Graph_Elementwise,
    Graph_Counts<"index">, Graph_Counts<"key">, Graph_Counts<"subsequence">]> {
  let summary = "y = 32 random bits of element `index` of a subsequence, under a key";
  let description = [{
    Word index mod 4 of Philox 4x32-10. Its counter has index div 4 in the lower 64 bits and `subsequence` in the upper
    ones (include/xlc/Runtime/Philox.h). `index` numbers the elements of the whole tensor of the model, so that every
    layout of ranks, every micro-batch and a recomputation draw the same bits. `key` is that of the step; the
    subsequence identifies the parameter or node.

    ```mlir
    %i = graph.iota dim 0 : tensor<8xi64>
    %key = graph.step_number random_key : tensor<i64>
    %keys = graph.broadcast %key : tensor<i64> -> tensor<8xi64>
    %w = graph.constant dense<-5808556873153909620> : tensor<8xi64>
    %bits = graph.random_bits %i, %keys, %w : tensor<8xi32>
    ```
  }];
  let arguments = (ins StaticShapeTensorOf<[I64]>:$index, StaticShapeTensorOf<[I64]>:$key,
      StaticShapeTensorOf<[I64]>:$subsequence);
  let results = (outs StaticShapeTensorOf<[I32]>:$y);
  let assemblyFormat = "$index `,` $key `,` $subsequence attr-dict `:` type($y)";
  let builders = [OpBuilder<(ins "::mlir::Value":$index, "::mlir::Value":$key, "::mlir::Value":$subsequence), [{
    build($_builder, $_state, typeOf(index).clone($_builder.getI32Type()), index, key, subsequence);
  }]>];
}

def Graph_StochasticCastOp : Graph_Op<"stochastic_cast", [SameOperandsAndResultShape, Graph_Elementwise]> {
  let summary = "y = x rounded at random to one of its two neighbours, the nearer one more often";
  let description = [{
    The mean of y over all `bits` is x: sums in sixteen bits include addends smaller than half a unit in the last place.
    Random bits, sixteen for bf16 and thirteen for f16, are added below the last place of y, and the bits below it are
    truncated: for f16 the mean is exact to 2^-13 of the last place. Numbers above the largest finite one become that or
    infinite. Of an element of `bits`, draw 0 uses the lower half, draw 1 the upper one, and draw 2 both halves by
    exclusive or with each other and 0x8000. Any two draws are independent, and 0x80008000 rounds all three to nearest.
    Values that y can represent are unchanged, including infinities and NaN.

    ```mlir
    %bits = graph.random_bits %element, %key, %subsequence : tensor<8xi32>
    %narrow = graph.stochastic_cast %x, %bits draw 0 : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xbf16>
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins StaticShapeTensorOf<[F32]>:$x, StaticShapeTensorOf<[I32]>:$bits, I64Attr:$draw);
  let results = (outs StaticShapeTensorOf<[BF16, F16]>:$y);
  let assemblyFormat = "$x `,` $bits `draw` $draw attr-dict `:` functional-type(operands, results)";
}

class Graph_Binary<string mnemonic, Type type, string formula, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([SameOperandsAndResultType, Graph_Elementwise], traits)> {
  let summary = formula;
  let arguments = (ins type:$a, type:$b);
  let results = (outs type:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($y)";
}
def Graph_AddOp : Graph_Binary<"add", Graph_Number, "y = a + b", [Commutative, Graph_Additive, Graph_Sum]>;
def Graph_SubOp : Graph_Binary<"sub", Graph_Number, "y = a - b", [Graph_Additive, Graph_Sum]>;
def Graph_MulOp : Graph_Binary<"mul", Graph_Number, "y = a b", [Commutative]>;
def Graph_DivOp : Graph_Binary<"div", Graph_Number, "y = a / b (integers: towards zero)">;
def Graph_MaxOp : Graph_Binary<"max", Graph_Number, "y = larger of a, b (a NaN stays)", [Commutative, Graph_Extremum]>;
def Graph_MinOp : Graph_Binary<"min", Graph_Number, "y = smaller of a, b (a NaN stays)", [Commutative, Graph_Extremum]>;
def Graph_PowOp : Graph_Binary<"pow", Graph_Float, "y = a^b">;
def Graph_AndOp : Graph_Binary<"and", Graph_Bool, "y = a and b", [Commutative]>;
def Graph_OrOp  : Graph_Binary<"or", Graph_Bool, "y = a or b", [Commutative]>;

def Graph_ScaleOp : Graph_Op<"scale", [SameOperandsAndResultType, Graph_Elementwise, Graph_Additive]> {
  let summary = "y = x * numerator / denominator";
  let description = [{
    A factor that the compiler introduces (1/n of a mean, 1/d of an average) is a ratio of integers, so that the
    finite-field interpreter is exact. `graph.scale %x by 1 over 512 : tensor<4xf32>`
  }];
  let arguments = (ins Graph_Float:$x, I64Attr:$numerator, I64Attr:$denominator);
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "$x `by` $numerator `over` $denominator attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def Graph_CompareOp : Graph_Op<"compare", [SameTypeOperands, SameOperandsAndResultShape, Graph_Elementwise]> {
  let summary = "y = a predicate b, element by element";
  let arguments = (ins Graph_PredicateAttr:$predicate, Graph_Tensor:$a, Graph_Tensor:$b);
  let results = (outs Graph_Bool:$y);
  let assemblyFormat = "$predicate $a `,` $b attr-dict `:` type($a) `->` type($y)";
}

def Graph_SelectOp : Graph_Op<"select", [
    AllTypesMatch<["a", "b", "y"]>, AllShapesMatch<["condition", "y"]>, Graph_Elementwise]> {
  let summary = "y = condition ? a : b";
  let arguments = (ins Graph_Bool:$condition, Graph_Stored:$a, Graph_Stored:$b);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$condition `,` $a `,` $b attr-dict `:` type($condition) `,` type($y)";
}

#endif // XLC_GRAPH_ELEMENTWISE_OPS_TD
