// Operations of the `graph` dialect.
//
// All operands and results are ranked tensors of static shape. Element types: f32, f64, i64, i32, i1. Ops that only
// move or convert elements also accept bf16 and f16. So do products and attention, which multiply narrow elements and
// sum in f32; no op computes in sixteen bits. Broadcasting is always explicit (`graph.broadcast`), so that every
// element-wise op has equal shapes and one gradient rule.
#ifndef XLC_GRAPH_OPS_TD
#define XLC_GRAPH_OPS_TD

include "xlc/Dialect/Graph/GraphEnums.td"
include "xlc/Dialect/Graph/GraphTraits.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Graph_Tensor : StaticShapeTensorOf<[F32, F64, I64, I32, I1]>;
def Graph_Stored : StaticShapeTensorOf<[F32, F64, BF16, F16, I64, I32, I1]>;
def Graph_Float : StaticShapeTensorOf<[F32, F64]>;
def Graph_Multiplied : StaticShapeTensorOf<[F32, F64, BF16, F16]>;
def Graph_Index : StaticShapeTensorOf<[I64, I32]>;
def Graph_Bool : StaticShapeTensorOf<[I1]>;
def Graph_Number : StaticShapeTensorOf<[F32, F64, I64, I32]>;

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, !listconcat([Pure], traits)>;

include "xlc/Dialect/Graph/GraphElementwiseOps.td"

//===----------------------------------------------------------------------===//
// Sources and shape
//===----------------------------------------------------------------------===//

def Graph_ConstantOp : Graph_Op<"constant", [AllTypesMatch<["value", "y"]>]> {
  let summary = "y = value";
  let description = [{
    Not ConstantLike: MLIR's folder would merge equal constants of different units into one, and move it away from both.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "attr-dict $value";
}

def Graph_IotaOp : Graph_Op<"iota"> {
  let summary = "y[i0, i1, ...] = i_dimension";
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Graph_Number:$y);
  let assemblyFormat = "`dim` $dimension attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def Graph_BroadcastOp : Graph_Op<"broadcast", [Graph_Movement, Graph_Reshaping, Graph_Additive]> {
  let summary = "repeats dimensions of size 1, and adds leading dimensions";
  let description = [{
    Shapes are aligned at their last dimension, as in numpy and ONNX; a dimension of size 1 is repeated.
    `tensor<64xf32> -> tensor<4x32x64xf32>`.
  }];
  let arguments = (ins Graph_Stored:$x);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ReshapeOp : Graph_Op<"reshape", [Graph_View, Graph_Reshaping, Graph_Additive]> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins Graph_Stored:$x);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_TransposeOp : Graph_Op<"transpose", [Graph_View, Graph_Additive]> {
  let summary = "dimension i of y is dimension permutation[i] of x";
  let arguments = (ins Graph_Stored:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_Op<"slice", [Graph_ReadsOwnDimensions, Graph_View, Graph_Additive]> {
  let summary = "y[i] = x[offsets + i * strides]; strides may be negative";
  let arguments = (ins Graph_Stored:$x, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$x `from` $offsets `by` $strides attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_Op<"concat", [Graph_ReadsOwnDimensions, Graph_Additive]> {
  let summary = "operands one after the other along a dimension";
  let arguments = (ins Variadic<Graph_Stored>:$xs, I64Attr:$dimension);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$xs `dim` $dimension attr-dict `:` functional-type($xs, $y)";
  let hasVerifier = 1;
}

def Graph_PadOp : Graph_Op<"pad", [AllElementTypesMatch<["x", "value", "y"]>, Graph_ReadsOwnDimensions]> {
  let summary = "x with `low` elements of `value` before and `high` after, per dimension";
  let description = "`value` is a scalar tensor. `low` and `high` are not negative.";
  let arguments = (ins Graph_Stored:$x, Graph_Stored:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$x `,` $value `low` $low `high` $high attr-dict `:` functional-type(operands, $y)";
  let hasVerifier = 1;
}

def Graph_ReduceOp : Graph_Op<"reduce", [AllElementTypesMatch<["x", "y"]>]> {
  let summary = "combines all elements along `dimensions`, which are removed";
  let arguments = (ins Graph_ReductionAttr:$kind, Graph_Number:$x, DenseI64ArrayAttr:$dimensions);
  let results = (outs Graph_Number:$y);
  let assemblyFormat = "$kind $x `dims` $dimensions attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether only the last dimension is removed: one value for each row.
    bool isOverRow();
  }];
}

def Graph_GatherOp : Graph_Op<"gather", [AllElementTypesMatch<["table", "y"]>]> {
  let summary = "y = table taken at `indices` along `dimension` (numpy.take)";
  let description = "Indices are in [0, size); shape: table[:dimension] + indices + table[dimension+1:].";
  let arguments = (ins Graph_Stored:$table, Graph_Index:$indices, I64Attr:$dimension);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$table `,` $indices `dim` $dimension attr-dict `:` functional-type(operands, $y)";
  let hasVerifier = 1;
}

def Graph_ScatterAddOp : Graph_Op<"scatter_add", [Graph_LibraryKernel, Graph_ScatterAdd]> {
  let summary = "the transpose of gather: y = 0; y[..., indices, ...] += updates along `dimension`";
  let description = "The result of f32 updates may have sixteen bits: each element is summed as f32, rounded once.";
  let arguments = (ins Graph_Index:$indices, Graph_Float:$updates, I64Attr:$dimension);
  let results = (outs Graph_Multiplied:$y);
  let assemblyFormat = "$indices `,` $updates `dim` $dimension attr-dict `:` functional-type(operands, $y)";
  let hasVerifier = 1;
}

def Graph_GatherElementsOp : Graph_Op<"gather_elements", [AllElementTypesMatch<["x", "y"]>]> {
  let summary = "y[.., i, ..] = x[.., indices[.., i, ..], ..] along `dimension` (numpy.take_along_axis)";
  let description = [{
    Indices are in [0, size) and aligned with x at their last dimension. Missing leading dimensions are repeated, so
    that one table of relative positions is used for every head. Along `dimension` they may have any size.
    `tensor<8x4x16xf32>, tensor<4x4xi64>` along dimension 2 give `tensor<8x4x4xf32>`.
  }];
  let arguments = (ins Graph_Stored:$x, Graph_Index:$indices, I64Attr:$dimension);
  let results = (outs Graph_Stored:$y);
  let assemblyFormat = "$x `,` $indices `dim` $dimension attr-dict `:` functional-type(operands, $y)";
  let hasVerifier = 1;
}

def Graph_ScatterElementsAddOp : Graph_Op<"scatter_elements_add", [AllElementTypesMatch<["updates", "y"]>, Graph_LibraryKernel,
                                                                   Graph_ScatterAdd]> {
  let summary = "the transpose of gather_elements: y = 0; y[.., indices[.., i, ..], ..] += updates[.., i, ..]";
  let arguments = (ins Graph_Index:$indices, Graph_Float:$updates, I64Attr:$dimension);
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "$indices `,` $updates `dim` $dimension attr-dict `:` functional-type(operands, $y)";
  let hasVerifier = 1;
}

def Graph_ScatterElementsOp : Graph_Op<"scatter_elements", [AllElementTypesMatch<["base", "updates", "y"]>,
                                                            AllTypesMatch<["base", "y"]>, Graph_LibraryKernel]> {
  let summary = "y = base with y[.., indices[.., i, ..], ..] combined with updates[.., i, ..] by `kind`";
  let description = [{
    `last`: the last update in the order of i. `max`, `min`: the largest or smallest of the element of base and all its
    updates. Indices are as for gather_elements. In addition, all their sizes after `dimension` may be 1; an index then
    selects a row.

    ```mlir
    %y = graph.scatter_elements last %base, %rows, %updates dim 0
        : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
    ```

    Backward is PyTorch's. For `last`, base has no gradient at elements that are written, and each update has the
    gradient of its element, even if another update overwrites it. For `max` and `min`, base and the updates that are
    equal to the result share its gradient evenly.
  }];
  let arguments = (ins Graph_ScatterAttr:$kind, Graph_Number:$base, Graph_Index:$indices, Graph_Number:$updates, I64Attr:$dimension);
  let results = (outs Graph_Number:$y);
  let assemblyFormat = "$kind $base `,` $indices `,` $updates `dim` $dimension attr-dict `:` functional-type(operands, $y)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether an index selects a row of all dimensions after `dimension`.
    bool isByRow();
  }];
}

//===----------------------------------------------------------------------===//
// Ops with a kernel or a library call of their own
//===----------------------------------------------------------------------===//

def Graph_ContractOp : Graph_Op<"contract", [AllElementTypesMatch<["a", "b"]>, Graph_LibraryKernel]> {
  let summary = "einsum of two tensors";
  let description = [{
    `graph.contract "bsh,ho->bso" %x, %w`: letters name factors; a factor that is not in the result is summed. A factor
    occurs in at least two of the three places, and at most once in each. The gradients are contractions with permuted
    letters, and the factors are the sharding rule.

    Narrow elements (bf16, f16) are multiplied without conversion and summed in f32. y has their type, with each sum
    rounded once, or f32:

    ```mlir
    %y = graph.contract "ab,bc->ac" %x, %w : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xbf16>
    %dw = graph.contract "ab,ac->bc" %x, %dy : (tensor<2x8xbf16>, tensor<2x4xbf16>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$spec, Graph_Multiplied:$a, Graph_Multiplied:$b);
  let results = (outs Graph_Multiplied:$y);
  let assemblyFormat = "$spec $a `,` $b attr-dict `:` functional-type(operands, $y)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The letters of `a`, `b` and `y`.
    ::llvm::StringRef getLettersA(); ::llvm::StringRef getLettersB(); ::llvm::StringRef getLettersY();
  }];
}

def Graph_SoftmaxOp : Graph_Op<"softmax", [SameOperandsAndResultType, Graph_Rowwise]> {
  let summary = "y = exp(x - max) / sum exp(x - max) along the last dimension";
  let arguments = (ins Graph_Float:$x);
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}

def Graph_GeluOp : Graph_Op<"gelu", [SameOperandsAndResultType, Graph_Elementwise]> {
  let summary = "Gaussian error linear unit";
  let arguments = (ins Graph_GeluAttr:$kind, Graph_Float:$x);
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($y)";
}
def Graph_GeluBackwardOp : Graph_Op<"gelu_backward", [SameOperandsAndResultType, Graph_Elementwise]> {
  let summary = "dx = dy * gelu'(x)";
  let arguments = (ins Graph_GeluAttr:$kind, Graph_Float:$x, Graph_Float:$dy);
  let results = (outs Graph_Float:$dx);
  let assemblyFormat = "$kind $x `,` $dy attr-dict `:` type($dx)";
}

def Graph_SiluOp : Graph_Op<"silu", [SameOperandsAndResultType, Graph_Elementwise]> {
  let summary = "y = x / (1 + e^-x)";
  let description = "A single op, so that backward keeps only x; its small ops would keep three tensors of that size.";
  let arguments = (ins Graph_Float:$x);
  let results = (outs Graph_Float:$y);
  let assemblyFormat = "$x attr-dict `:` type($y)";
}
def Graph_SiluBackwardOp : Graph_Op<"silu_backward", [SameOperandsAndResultType, Graph_Elementwise]> {
  let summary = "dx = dy * s (1 + x (1 - s)), s = 1 / (1 + e^-x)";
  let arguments = (ins Graph_Float:$x, Graph_Float:$dy);
  let results = (outs Graph_Float:$dx);
  let assemblyFormat = "$x `,` $dy attr-dict `:` type($dx)";
}

def Graph_LayerNormOp : Graph_Op<"layer_norm", [AllTypesMatch<["x", "y"]>, Graph_Rowwise, Graph_Norm,
                                                AllTypesMatch<["mean", "rstd"]>, AllTypesMatch<["weight", "bias"]>]> {
  let summary = "y = (x - mean) * rstd * weight + bias over the last dimension";
  let description = [{
    x, y: [..., n]; weight, bias: [n]; mean, rstd: [...]. rstd = 1/sqrt(variance + epsilon),
    variance the mean of squared differences.
  }];
  let arguments = (ins Graph_Float:$x, Graph_Float:$weight, Graph_Float:$bias, F64Attr:$epsilon);
  let results = (outs Graph_Float:$y, Graph_Float:$mean, Graph_Float:$rstd);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Graph_LayerNormBackwardOp : Graph_Op<"layer_norm_backward", [AllTypesMatch<["x", "dy", "dx"]>, Graph_Rowwise, AllTypesMatch<["mean", "rstd"]>]> {
  let summary = "gradient of layer_norm with respect to x";
  let description = "g = dy * weight; xhat = (x - mean) rstd; dx = rstd (g - mean(g) - xhat mean(g xhat)).";
  let arguments = (ins Graph_Float:$x, Graph_Float:$weight, Graph_Float:$mean, Graph_Float:$rstd, Graph_Float:$dy);
  let results = (outs Graph_Float:$dx);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Graph_LayerNormWeightBackwardOp : Graph_Op<"layer_norm_weight_backward", [
    AllTypesMatch<["x", "dy"]>, AllTypesMatch<["mean", "rstd"]>, AllTypesMatch<["dweight", "dbias"]>, Graph_Columnwise]> {
  let summary = "gradients of layer_norm with respect to weight and bias";
  let description = "dweight = sum over rows of dy * xhat; dbias = sum over rows of dy.";
  let arguments = (ins Graph_Float:$x, Graph_Float:$mean, Graph_Float:$rstd, Graph_Float:$dy);
  let results = (outs Graph_Float:$dweight, Graph_Float:$dbias);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Graph_RmsNormOp : Graph_Op<"rms_norm", [AllTypesMatch<["x", "y"]>, Graph_Rowwise, Graph_Norm]> {
  let summary = "y = x * rstd * weight over the last dimension";
  let description = "x, y: [..., n]; weight: [n]; rstd: [...] = 1/sqrt(mean of x^2 + epsilon).";
  let arguments = (ins Graph_Float:$x, Graph_Float:$weight, F64Attr:$epsilon);
  let results = (outs Graph_Float:$y, Graph_Float:$rstd);
  let assemblyFormat = "$x `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Graph_RmsNormBackwardOp : Graph_Op<"rms_norm_backward", [AllTypesMatch<["x", "dy", "dx"]>, Graph_Rowwise]> {
  let summary = "gradient of rms_norm with respect to x";
  let description = "g = dy * weight; xhat = x rstd; dx = rstd (g - xhat mean(g xhat)).";
  let arguments = (ins Graph_Float:$x, Graph_Float:$weight, Graph_Float:$rstd, Graph_Float:$dy);
  let results = (outs Graph_Float:$dx);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Graph_RmsNormWeightBackwardOp : Graph_Op<"rms_norm_weight_backward", [AllTypesMatch<["x", "dy"]>, Graph_Columnwise]> {
  let summary = "gradient of rms_norm with respect to weight";
  let description = "dweight = sum over rows of dy * xhat.";
  let arguments = (ins Graph_Float:$x, Graph_Float:$rstd, Graph_Float:$dy);
  let results = (outs Graph_Float:$dweight);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Graph_AttentionOp : Graph_Op<"attention", [AllElementTypesMatch<["q", "k", "v", "out"]>, AttrSizedOperandSegments,
    Graph_LibraryKernel, Graph_Attention]> {
  let summary = "softmax(scale * Q K^T + bias, masked) V, without the score matrix";
  let description = [{
    q: [batch, queries, heads, d]; k: [batch, keys, groups, d]; v: [batch, keys, groups, e];
    heads is a multiple of groups (grouped-query attention). out: [batch, queries, heads, e].
    lse: [batch, heads, queries], f64 in a program that will run, because its rounding would be an error common to a
    whole row of probabilities. It is the log of the sum of exponentials of the scaled, masked scores, from which
    backward can recompute the probabilities (Dao, FlashAttention-2, 2023). Programs multiply by `scale` rounded to f32.

    Query i attends to key j unless it is masked: by a causal mask if j > i; by `window` if |i - j| >= window; by
    `bias`, [1|batch, 1|heads, 1|queries, keys], where it is false (i1) or at most -1e30 (floats; greater values are
    added to the scaled scores). If all keys of a query are masked, it attends to all keys uniformly if `uniform` is set
    or the bias that masks is finite (as do scores that -3.4e38 was added to). Otherwise it attends to no key: out = 0.
    A uniform query includes the keys masked by causality, the window or minus infinity.

    The gradient that reaches q and k from a query whose keys are all masked depends on the kind of mask. Scores that
    were replaced (torch.where(mask, scores, -3.4e38)) are constants: no gradient. With `added`, finite numbers were
    added to the scores, and an addition passes gradients on, even if rounding removes the score: a uniform query has
    the gradient of any other, ds = scale * p * (dp - sum(p dp)) with p = 1 / keys, for all keys. A query that attends
    to no key has none. `added` does not affect queries with unmasked keys. It is for masks whose parts are all added
    and finite: if a part replaces scores or is minus infinity, `added` is not set, and queries whose keys are all
    masked have no gradient. The bias never receives a gradient: for a learned bias, small ops are used.

    For narrow q, k and v (bf16, f16) scores and probabilities are f32; out, and in backward dq, dk and dv, are rounded
    once. If a target has products for the type (lib/Kernels/WriteAttention.h), their operands are rounded too:
    probabilities and the gradients of scores.

    With `dropping`, a probability is kept and divided by 1 - ratio, or is zero in the product with V; lse includes all
    probabilities. `draws`, [batch, heads, 3] i64, has for each head of a sample the number of its first score among the
    elements of the site, the key of the step and the site's subsequence (graph.random_bits). Scores are numbered from
    there, row by row. A word whose upper 31 bits are less than round(ratio 2^31) drops its probability. Backward masks
    with the same numbers:
    dv = (M p / (1 - ratio))^T dout, ds = scale * p * (M dp / (1 - ratio) - sum(out dout)).

        %out, %lse = graph.attention causal %q, %k, %v dropping 0.1 by %draws scale 0.25 : ...
        %out, %lse = graph.attention causal %q, %k, %v bias %padding scale 0.25 {uniform} : ...
  }];
  let arguments = (ins Graph_MaskAttr:$mask, Graph_Multiplied:$q, Graph_Multiplied:$k, Graph_Multiplied:$v,
      Optional<Graph_Tensor>:$bias, Optional<StaticShapeTensorOf<[I64]>>:$draws, F64Attr:$scale, OptionalAttr<I64Attr>:$window,
      OptionalAttr<F64Attr>:$ratio, UnitAttr:$uniform, UnitAttr:$added);
  let results = (outs Graph_Multiplied:$out, Graph_Float:$lse);
  let assemblyFormat = "$mask $q `,` $k `,` $v (`bias` $bias^)? (`dropping` $ratio `by` $draws^)? `scale` $scale attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Graph_AttentionBackwardOp : Graph_Op<"attention_backward", [
    AllElementTypesMatch<["q", "k", "v", "out"]>, AllTypesMatch<["q", "dq"]>, AllTypesMatch<["k", "dk"]>,
    AllTypesMatch<["v", "dv"]>, AllTypesMatch<["out", "dout"]>, AttrSizedOperandSegments, Graph_LibraryKernel, Graph_Attention]> {
  let summary = "gradients of attention with respect to q, k and v";
  let arguments = (ins Graph_MaskAttr:$mask, Graph_Multiplied:$q, Graph_Multiplied:$k, Graph_Multiplied:$v, Graph_Multiplied:$out, Graph_Float:$lse, Graph_Multiplied:$dout,
      Optional<Graph_Tensor>:$bias, Optional<StaticShapeTensorOf<[I64]>>:$draws, F64Attr:$scale, OptionalAttr<I64Attr>:$window,
      OptionalAttr<F64Attr>:$ratio, UnitAttr:$uniform, UnitAttr:$added);
  let results = (outs Graph_Multiplied:$dq, Graph_Multiplied:$dk, Graph_Multiplied:$dv);
  let assemblyFormat = "$mask $q `,` $k `,` $v `,` $out `,` $lse `,` $dout (`bias` $bias^)? (`dropping` $ratio `by` $draws^)? `scale` $scale attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Graph_CrossEntropyOp : Graph_Op<"cross_entropy", [Graph_CrossEntropy]> {
  let summary = "sum over counted rows of -log softmax(logits)[label], and the number of counted rows";
  let description = [{
    logits: [..., classes]; labels: [...] integers. A row whose label is `ignore_index` is not counted; without it all
    rows are. sum: scalar float, count: scalar i64, lse: [...], log-sum-exp of each row for backward. Import makes it
    f64, because its rounding would be an error common to a whole row.
  }];
  let arguments = (ins Graph_Float:$logits, Graph_Index:$labels, OptionalAttr<I64Attr>:$ignore_index);
  let results = (outs Graph_Float:$sum, StaticShapeTensorOf<[I64]>:$count, Graph_Float:$lse);
  let assemblyFormat = "$logits `,` $labels (`ignore` $ignore_index^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Graph_CrossEntropyBackwardOp : Graph_Op<"cross_entropy_backward", [
    AllTypesMatch<["logits", "dlogits"]>, Graph_ReadsOwnElement, Graph_CrossEntropy]> {
  let summary = "dlogits = dsum * (softmax(logits) - onehot(label)), zero in rows not counted";
  let description = "dsum: scalar. The result may overwrite the logits.";
  let arguments = (ins Graph_Float:$logits, Graph_Index:$labels, Graph_Float:$lse, Graph_Float:$dsum, OptionalAttr<I64Attr>:$ignore_index);
  let results = (outs Graph_Float:$dlogits);
  let assemblyFormat = "$logits `,` $labels `,` $lse `,` $dsum (`ignore` $ignore_index^)? attr-dict `:` functional-type(operands, results)";
}

include "xlc/Dialect/Graph/GraphUpdateOps.td"
include "xlc/Dialect/Graph/GraphWindowOps.td"

#endif // XLC_GRAPH_OPS_TD
