// Nodes that Import refuses: shapes, element types and values that do not fit their operator.
#include "Refusals.h"

namespace xlc {
namespace {

// What import rules refuse: every bad node of the model is named in one run.
constexpr char kBadNodes[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  input { name: "labels" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } }
  initializer { name: "three" data_type: 7 dims: 2 int64_data: [3, -1] }
  initializer { name: "one" data_type: 7 dims: 1 int64_data: 1 }
  initializer { name: "ones" data_type: 7 dims: 2 int64_data: [1, 1] }
  initializer { name: "nine" data_type: 7 dims: 1 int64_data: 9 }
  initializer { name: "zero" data_type: 7 int64_data: 0 }
  initializer { name: "minus" data_type: 7 dims: 4 int64_data: [0, -9, 0, 0] }
  initializer { name: "threes" data_type: 7 dims: 2 int64_data: [3, 3] }
  initializer { name: "all" data_type: 1 float_data: 1 }
  initializer { name: "yes" data_type: 9 int32_data: 1 }
  initializer { name: "v3" data_type: 1 dims: 3 float_data: [1, 2, 3] }
  initializer { name: "w" data_type: 1 dims: 3 dims: 5 float_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] }
  node { name: "reshape" op_type: "Reshape" input: "x" input: "three" output: "o1" }
  node { name: "axis" op_type: "Softmax" input: "x" output: "o2" attribute { name: "axis" type: INT i: 7 } }
  node { name: "dynamic" op_type: "Reshape" input: "x" input: "labels" output: "o3" }
  node { name: "cumulate" op_type: "NonZero" input: "x" output: "o4" }
  node { name: "add" op_type: "Add" input: "x" input: "v3" output: "o5" }
  node { name: "types" op_type: "Add" input: "x" input: "zero" output: "o6" }
  node { name: "gemm" op_type: "Gemm" input: "x" input: "w" output: "o7" }
  node { name: "matmul" op_type: "MatMul" input: "x" input: "w" output: "o8" }
  node { name: "missing" op_type: "MatMul" input: "x" output: "o9" }
  node { name: "many" op_type: "Relu" input: "x" input: "x" output: "o10" }
  node { name: "dropout" op_type: "Dropout" input: "x" input: "all" input: "yes" output: "o11" }
  node { name: "noise" op_type: "RandomUniformLike" input: "x" output: "o11a" attribute { name: "dtype" type: INT i: 6 } }
  node { name: "cast" op_type: "Cast" input: "x" output: "o12" attribute { name: "to" type: INT i: 14 } }
  node { name: "gelu" op_type: "Gelu" input: "x" output: "o13" attribute { name: "approximate" type: STRING s: "wild" } }
  node { name: "perm" op_type: "Transpose" input: "x" output: "o14" attribute { name: "perm" type: INTS ints: [0, 0] } }
  node { name: "expand" op_type: "Expand" input: "x" input: "threes" output: "o15" }
  node { name: "concat" op_type: "Concat" input: "x" input: "w" output: "o16" attribute { name: "axis" type: INT i: 0 } }
  node { name: "slice" op_type: "Slice" input: "x" input: "one" input: "ones" output: "o17" }
  node { name: "split" op_type: "Split" input: "x" input: "threes" output: "o18" output: "o19" attribute { name: "axis" type: INT i: 1 } }
  node { name: "pad" op_type: "Pad" input: "x" input: "minus" output: "o20" attribute { name: "mode" type: STRING s: "sideways" } }
  node { name: "pads" op_type: "Pad" input: "x" input: "one" output: "o21" }
  node { name: "cut" op_type: "Pad" input: "x" input: "minus" output: "o22" }
  node { name: "gather" op_type: "Gather" input: "x" input: "nine" output: "o23" attribute { name: "axis" type: INT i: 1 } }
  node { name: "float index" op_type: "Gather" input: "w" input: "x" output: "o24" }
  node { name: "norm" op_type: "LayerNormalization" input: "x" input: "v3" output: "o25" }
  node { name: "norm outputs" op_type: "LayerNormalization" input: "x" input: "v3" output: "o26" output: "o27" }
  node { name: "loss" op_type: "SoftmaxCrossEntropyLoss" input: "x" input: "nine" output: "o28" }
  node { name: "reduction" op_type: "SoftmaxCrossEntropyLoss" input: "x" input: "labels" output: "o29" attribute { name: "reduction" type: STRING s: "product" } }
  node { name: "where" op_type: "Where" input: "x" input: "x" input: "x" output: "o30" }
  node { name: "not" op_type: "Not" input: "x" output: "o31" }
  node { name: "clip" op_type: "Clip" input: "x" input: "v3" output: "o32" }
  node { name: "squeeze" op_type: "Squeeze" input: "x" input: "one" output: "o33" }
  node { name: "twice" op_type: "Unsqueeze" input: "x" input: "ones" output: "o34" }
  node { name: "trilu" op_type: "Trilu" input: "v3" output: "o35" }
  output { name: "o1" type { tensor_type { elem_type: 1 } } }
}
)";

// More of what import and evaluation rules refuse, in one run.
constexpr char kBadNodesMore[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  input { name: "labels" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } }
  initializer { name: "shape" data_type: 7 dims: 2 int64_data: [2, 4] }
  initializer { name: "ints" data_type: 7 dims: 2 dims: 2 int64_data: [1, 2, 3, 4] }
  initializer { name: "whole" data_type: 7 dims: 4 dims: 1 int64_data: [1, 2, 3, 4] }
  initializer { name: "deep" data_type: 7 dims: 3 int64_data: [0, 0, 0] }
  initializer { name: "zero" data_type: 7 int64_data: 0 }
  initializer { name: "half" data_type: 1 float_data: 0.5 }
  initializer { name: "floats" data_type: 1 dims: 2 float_data: [1, 2] }
  initializer { name: "w" data_type: 1 dims: 4 dims: 3 float_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
  initializer { name: "bias" data_type: 1 dims: 5 float_data: [1, 2, 3, 4, 5] }
  initializer { name: "pads" data_type: 7 dims: 4 int64_data: [0, 2199023255552, 0, 0] }
  initializer { name: "ones" data_type: 7 dims: 4 int64_data: [1, 1, 1, 1] }
  initializer { name: "scale" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }
  initializer { name: "intscale" data_type: 7 dims: 4 int64_data: [1, 1, 1, 1] }
  node { name: "fill" op_type: "ConstantOfShape" input: "shape" output: "o1"
         attribute { name: "value" type: TENSOR t { data_type: 1 dims: 2 float_data: [1, 2] } } }
  node { name: "nd" op_type: "GatherND" input: "ints" input: "deep" output: "o2" }
  node { name: "nd scalar" op_type: "GatherND" input: "ints" input: "zero" output: "o3" }
  node { name: "range" op_type: "Range" input: "ints" input: "zero" input: "zero" output: "o5" }
  node { name: "pow" op_type: "Pow" input: "labels" input: "labels" output: "o8" }
  node { name: "gemm types" op_type: "Gemm" input: "x" input: "whole" output: "o9" }
  node { name: "gemm bias" op_type: "Gemm" input: "x" input: "w" input: "bias" output: "o10" }
  node { name: "matmul types" op_type: "MatMul" input: "labels" input: "labels" output: "o11" }
  node { name: "norm types" op_type: "LayerNormalization" input: "x" input: "intscale" input: "intscale" output: "o12" }
  node { name: "loss types" op_type: "SoftmaxCrossEntropyLoss" input: "x" input: "floats" output: "o13" }
  node { name: "pad huge" op_type: "Pad" input: "x" input: "pads" output: "o14" }
  node { name: "pad value" op_type: "Pad" input: "x" input: "ones" input: "floats" output: "o15" }
  node { name: "mean" op_type: "ReduceMean" input: "labels" output: "o16" }
  node { name: "sum" op_type: "ReduceSum" input: "x" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

// An operator on element types that it does not take is refused by the op it becomes.
constexpr char kBadTypesModel[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  node { name: "and" op_type: "And" input: "x" input: "x" output: "a" }
  node { name: "loss" op_type: "ReduceSum" input: "a" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

constexpr char kBadTypesKnown[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  initializer { name: "w" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
  initializer { name: "two" data_type: 7 int64_data: 2 }
  node { name: "sigmoid" op_type: "Sigmoid" input: "two" output: "e" }
  node { name: "cast" op_type: "Cast" input: "e" output: "f" attribute { name: "to" type: INT i: 1 } }
  node { name: "mul" op_type: "Mul" input: "x" input: "w" output: "a" }
  node { name: "scale" op_type: "Mul" input: "a" input: "f" output: "b" }
  node { name: "loss" op_type: "ReduceSum" input: "b" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

// Operands have the types that ONNX lets them have together: xlc computes some of them in one type, and the file does not.
constexpr char kOperandTypes[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 2 } } } } }
  initializer { name: "wide" data_type: 11 dims: 2 dims: 2 double_data: [1, 2, 3, 4] }
  initializer { name: "half" data_type: 10 dims: 2 int32_data: [15360, 15360] }
  initializer { name: "brain" data_type: 16 dims: 2 int32_data: [16256, 16256] }
  initializer { name: "long" data_type: 7 dims: 4 int64_data: [0, 0, 0, 0] }
  initializer { name: "short" data_type: 5 dims: 2 int32_data: [1, 2] }
  initializer { name: "yes" data_type: 9 dims: 1 int32_data: 1 }
  initializer { name: "shape" data_type: 7 dims: 1 int64_data: 1 }
  node { name: "gemm" op_type: "Gemm" input: "x" input: "wide" output: "o1" }
  node { name: "add" op_type: "Add" input: "x" input: "half" output: "o2" }
  node { name: "sum" op_type: "Sum" input: "half" input: "brain" output: "o3" }
  node { name: "concat" op_type: "Concat" input: "long" input: "short" output: "o4" attribute { name: "axis" type: INT i: 0 } }
  node { name: "where" op_type: "Where" input: "yes" input: "x" input: "half" output: "o5" }
  node { name: "make" op_type: "ConstantOfShape" input: "shape" output: "made" attribute { name: "value" type: TENSOR t { data_type: 10 dims: 1 int32_data: 15360 } } }
  node { name: "less" op_type: "Less" input: "made" input: "x" output: "o6" }
  node { name: "pad" op_type: "Pad" input: "x" input: "long" input: "made" output: "o7" }
  node { name: "good cast" op_type: "Cast" input: "half" output: "float" attribute { name: "to" type: INT i: 1 } }
  node { name: "good add" op_type: "Add" input: "x" input: "float" output: "o8" }
  node { name: "good pow" op_type: "Pow" input: "x" input: "half" output: "o9" }
  node { name: "good after" op_type: "Add" input: "o2" input: "half" output: "o10" }
  node { name: "good loss" op_type: "ReduceSum" input: "o8" output: "loss" attribute { name: "keepdims" type: INT i: 0 } }
  output { name: "loss" type { tensor_type { elem_type: 1 } } }
}
)";

// What evaluation refuses: bad shape arithmetic, and constants that would not fit into memory.
constexpr char kBadConstants[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
  initializer { name: "zero" data_type: 7 int64_data: 0 }
  initializer { name: "nine" data_type: 7 int64_data: 9 }
  initializer { name: "nines" data_type: 7 dims: 1 int64_data: 9 }
  initializer { name: "two" data_type: 7 dims: 2 int64_data: [1, 2] }
  initializer { name: "three" data_type: 7 dims: 3 int64_data: [1, 2, 3] }
  initializer { name: "negative" data_type: 7 dims: 1 int64_data: -1 }
  initializer { name: "huge" data_type: 7 dims: 1 int64_data: 1000000000 }
  initializer { name: "none" data_type: 7 dims: 0 dims: 1 }
  # Tensors without elements are fine.
  node { name: "nothing" op_type: "Concat" input: "none" input: "none" output: "o0" attribute { name: "axis" type: INT i: 1 } }
  node { name: "div" op_type: "Div" input: "two" input: "zero" output: "o1" }
  node { name: "mod" op_type: "Mod" input: "two" input: "zero" output: "o2" }
  node { name: "range" op_type: "Range" input: "zero" input: "nine" input: "zero" output: "o3" }
  node { name: "gather" op_type: "Gather" input: "two" input: "nine" output: "o4" }
  node { name: "gathernd" op_type: "GatherND" input: "two" input: "nines" output: "o5" }
  node { name: "fill" op_type: "ConstantOfShape" input: "negative" output: "o6" }
  node { name: "empty" op_type: "Constant" output: "o7" }
  node { name: "cumsum" op_type: "CumSum" input: "two" input: "nine" output: "o8" }
  node { name: "and" op_type: "And" input: "two" input: "two" output: "o9" }
  node { name: "sqrt" op_type: "Sqrt" input: "two" output: "o10" }
  node { name: "concat" op_type: "Concat" input: "two" input: "zero" output: "o11" attribute { name: "axis" type: INT i: 0 } }
  node { name: "cast" op_type: "Cast" input: "two" output: "o12" attribute { name: "to" type: INT i: 14 } }
  node { name: "zeros" op_type: "ConstantOfShape" input: "huge" output: "zeros" }
  node { name: "sums" op_type: "CumSum" input: "zeros" input: "zero" output: "o13" }
  node { name: "broadcast" op_type: "Add" input: "two" input: "three" output: "o14" }
  node { name: "batch" op_type: "GatherND" input: "two" input: "nines" output: "o15" attribute { name: "batch_dims" type: INT i: 1 } }
  output { name: "o1" type { tensor_type { elem_type: 1 } } }
}
)";

const Refusal kTable[] = {
    {"Nodes", "batch: {micro: 2}", kBadNodes,
     R"(
error: node 'reshape' (Reshape) cannot reshape [2, 4] to [3, -1]
error: node 'axis' (Softmax) has axis 7, which is out of range for rank 2
error: node 'dynamic' (Reshape) needs shape that are known when the model is compiled
error: node 'cumulate' (NonZero) needs inputs that are known when the model is compiled
error: node 'add' (Add) has inputs whose shapes do not broadcast
error: node 'types' (Add) has inputs that differ in element type
error: node 'gemm' (Gemm) multiplies [2, 4] by [3, 5]; these shapes do not match
error: node 'matmul' (MatMul) multiplies [2, 4] by [3, 5]; these shapes do not match
error: node 'missing' (MatMul) needs input 1
error: node 'many' (Relu) has 2 inputs, but at most 1 are supported
error: node 'dropout' (Dropout) drops elements with probability 1, which must be at least 0 and below 1
error: node 'noise' (RandomUniformLike) draws numbers of element type 6; only floats are supported
error: node 'cast' (Cast) casts to element type 14, which is not supported
error: node 'gelu' (Gelu) has approximate = 'wild'; none and tanh are supported
error: node 'perm' (Transpose) has a perm that is not a permutation of 2 dimensions
error: node 'expand' (Expand) has an input that does not broadcast to the requested shape
error: node 'concat' (Concat) has inputs that differ in a dimension other than 0
error: node 'slice' (Slice) has starts, ends, axes and steps that differ in length
error: node 'split' (Split) has pieces [3, 3] and 2 outputs; there must be one piece for each output, and their sum must be 4
error: node 'pad' (Pad) has mode 'sideways'; constant, reflect, edge and wrap are supported
error: node 'pads' (Pad) needs two pads for each axis
error: node 'cut' (Pad) crops all elements of a dimension
error: node 'gather' (Gather) has index 9 for a dimension of size 4
error: node 'float index' (Gather) needs integer indices
error: node 'norm' (LayerNormalization) needs a weight and a bias of 4 elements
error: node 'norm outputs' (LayerNormalization) has outputs for the mean and the standard deviation, which are not supported
error: node 'loss' (SoftmaxCrossEntropyLoss) has labels of shape [1], which do not match scores of shape [2, 4]
error: node 'reduction' (SoftmaxCrossEntropyLoss) has reduction 'product'; mean, sum and none are supported
error: node 'where' (Where) needs a boolean condition and two values of one type
error: node 'not' (Not) needs a boolean input
error: node 'clip' (Clip) needs scalar bounds of the input's type
error: node 'squeeze' (Squeeze) squeezes dimension 1 of [2, 4]; squeezed dimensions must have size 1
error: node 'twice' (Unsqueeze) has the same axis twice
error: node 'trilu' (Trilu) needs an input of rank 2 or more, and a k that is known when the model is compiled
)"},
    {"NodesMore", "batch: {micro: 2}", kBadNodesMore,
     R"(
error: node 'fill' (ConstantOfShape) needs a value of one element
error: node 'nd' (GatherND) has indices of shape [3] and batch_dims = 0, which do not match data of shape [2, 2]
error: node 'nd scalar' (GatherND) needs indices of rank 1 or more
error: node 'range' (Range) needs three scalars of one type
error: node 'pow' (Pow) needs a float input, or an exponent that is the constant 1, 2 or 3
error: node 'gemm types' (Gemm) needs float inputs of one type
error: node 'gemm bias' (Gemm) needs a third input of the same type that broadcasts to the product
error: node 'matmul types' (MatMul) needs float tensors of one type
error: node 'norm types' (LayerNormalization) needs float tensors of one type
error: node 'loss types' (SoftmaxCrossEntropyLoss) needs float scores and integer labels
error: node 'pad huge' (Pad) pads by more than 2^40 elements
error: node 'pad value' (Pad) needs one value to pad with
error: node 'mean' (ReduceMean) needs a numeric input, which must be float for a mean
)"},
    {"Types", "batch: {micro: 2}", kBadTypesModel,
     R"(
error: while importing: 'graph.and' op operand #0 must be statically shaped tensor of 1-bit
)"},
    {"TypesKnown", "batch: {micro: 2}", kBadTypesKnown,
     R"(
error: node 'sigmoid' (Sigmoid) has an input of a type that the operator does not support
)"},
    {"OperandTypes", "batch: {micro: 2}", kOperandTypes,
     R"(
error: node 'gemm' (Gemm) requires operands of one element type, but 'x' is float and 'wide' is double; cast one of them
error: node 'add' (Add) requires operands of one element type, but 'x' is float and 'half' is float16; cast one of them
error: node 'sum' (Sum) requires operands of one element type, but 'half' is float16 and 'brain' is bfloat16; cast one of them
error: node 'concat' (Concat) requires operands of one element type, but 'long' is int64 and 'short' is int16; cast one of them
error: node 'where' (Where) requires operands of one element type, but 'x' is float and 'half' is float16; cast one of them
error: node 'less' (Less) requires operands of one element type, but 'made' is float16 and 'x' is float; cast one of them
error: node 'pad' (Pad) requires operands of one element type, but 'x' is float and 'made' is float16; cast one of them
)"},
    {"Constants", "batch: {micro: 1}", kBadConstants,
     R"(
error: node 'div' (Div) divides by zero
error: node 'mod' (Mod) divides by zero
error: node 'range' (Range) produces too many elements: from 0.000000 to 9.000000 in steps of 0.000000
error: node 'gather' (Gather) has index 9 for a dimension of size 2
error: node 'gathernd' (GatherND) has index 9 for a dimension of size 2
error: node 'fill' (ConstantOfShape) requests a dimension of size -1, must be at least 0
error: node 'empty' (Constant) has no value attribute of a supported kind
error: node 'cumsum' (CumSum) has axis 9, which is out of range for rank 1
error: node 'and' (And) needs boolean inputs
error: node 'sqrt' (Sqrt) needs a float input
error: node 'concat' (Concat) has inputs that differ in rank or type
error: node 'cast' (Cast) casts to element type 14, which is not supported
error: node 'sums' (CumSum) produces a constant of more than 33554432 elements
error: node 'broadcast' (Add) has inputs whose shapes do not broadcast
error: node 'batch' (GatherND) has indices of shape [1] and batch_dims = 1, which do not match data of shape [2]
)"},
};

} // namespace

llvm::ArrayRef<Refusal> listRefusedNodes() { return kTable; }

} // namespace xlc
