// Attributes and inputs that operators do not take: of each kind of operator what its rule refuses.
#include "Refusals.h"

namespace xlc {
namespace {

// What rules of operators refuse, in one run: attributes, shapes and types that they have no meaning for, and limits.
constexpr char kBadOperators[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  input { name: "labels" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } }
  input { name: "counts" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  input { name: "truth" type { tensor_type { elem_type: 9 shape { dim { dim_value: 2 } } } } }
  input { name: "long" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 8193 } } } } }
  initializer { name: "v3" data_type: 1 dims: 3 float_data: [1, 2, 3] }
  initializer { name: "byte" data_type: 2 dims: 1 raw_data: "1" }
  initializer { name: "column" data_type: 7 dims: 2 dims: 1 int64_data: [0, 0] }
  initializer { name: "wide" data_type: 7 dims: 3 dims: 4 int64_data: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] }
  initializer { name: "nines" data_type: 7 dims: 2 dims: 2 int64_data: [9, 9, 9, 9] }
  initializer { name: "zeros" data_type: 7 dims: 2 dims: 4 int64_data: [0, 0, 0, 0, 0, 0, 0, 0] }
  initializer { name: "minus" data_type: 7 int64_data: [-1] }
  initializer { name: "pair" data_type: 1 dims: 2 float_data: [0, 1] }
  initializer { name: "no" data_type: 9 dims: 2 int32_data: [0, 0] }
  initializer { name: "none" data_type: 7 dims: 2 int64_data: [1, 0] }
  initializer { name: "many" data_type: 7 dims: 2 int64_data: [4611686018427387904, 1] }
  initializer { name: "pads" data_type: 7 dims: 4 int64_data: [0, 1073741824, 0, 0] }
  initializer { name: "zero" data_type: 7 int64_data: [1] }
  initializer { name: "five" data_type: 7 dims: 1 int64_data: [5] }
  node { name: "constants" op_type: "Constant" output: "known" attribute { name: "value_floats" type: FLOATS floats: [1, 0.1] } }
  node { name: "label sum" op_type: "ReduceSum" input: "labels" output: "label" }
  node { name: "fmod" op_type: "Mod" input: "x" input: "x" output: "o1" }
  node { name: "known fmod" op_type: "Mod" input: "known" input: "known" output: "o2" }
  node { name: "celu" op_type: "Celu" input: "x" output: "o3" attribute { name: "alpha" type: FLOAT f: 0.0 } }
  node { name: "integers" op_type: "Elu" input: "labels" output: "o4" }
  node { name: "prelu" op_type: "PRelu" input: "x" input: "v3" output: "o5" }
  node { name: "einsum count" op_type: "Einsum" input: "x" output: "o6" attribute { name: "equation" type: STRING s: "ij,jk->ik" } }
  node { name: "einsum rank" op_type: "Einsum" input: "x" output: "o7" attribute { name: "equation" type: STRING s: "ijk->i" } }
  node { name: "einsum text" op_type: "Einsum" input: "x" output: "o8" attribute { name: "equation" type: STRING s: "i1->i" } }
  node { name: "einsum result" op_type: "Einsum" input: "x" output: "o9" attribute { name: "equation" type: STRING s: "ij->k" } }
  node { name: "einsum sizes" op_type: "Einsum" input: "x" input: "v3" output: "o10" attribute { name: "equation" type: STRING s: "ij,j->i" } }
  node { name: "diagonal" op_type: "Einsum" input: "x" output: "o11" attribute { name: "equation" type: STRING s: "ii->i" } }
  node { name: "einsum type" op_type: "Einsum" input: "labels" output: "o12" attribute { name: "equation" type: STRING s: "i->" } }
  node { name: "rank" op_type: "GatherElements" input: "x" input: "labels" output: "o13" }
  node { name: "more" op_type: "GatherElements" input: "x" input: "wide" output: "o14" attribute { name: "axis" type: INT i: 1 } }
  node { name: "outside" op_type: "GatherElements" input: "x" input: "nines" output: "o15" attribute { name: "axis" type: INT i: 1 } }
  node { name: "product" op_type: "ScatterElements" input: "x" input: "nines" input: "x" output: "o16" attribute { name: "axis" type: INT i: 1 } }
  node { name: "reduction" op_type: "ScatterElements" input: "x" input: "zeros" input: "x" output: "o17" attribute { name: "reduction" type: STRING s: "mul" } }
  node { name: "type" op_type: "ScatterElements" input: "x" input: "zeros" input: "zeros" output: "o18" }
  node { name: "updates" op_type: "ScatterElements" input: "x" input: "zeros" input: "v3" output: "o19" }
  node { name: "scattered ints" op_type: "ScatterElements" input: "counts" input: "zeros" input: "counts" output: "o20" attribute { name: "reduction" type: STRING s: "add" } }
  node { name: "nd" op_type: "ScatterND" input: "x" input: "wide" input: "x" output: "o21" }
  node { name: "nd updates" op_type: "ScatterND" input: "x" input: "column" input: "v3" output: "o22" }
  node { name: "nd outside" op_type: "GatherND" input: "x" input: "nines" output: "o23" }
  node { name: "depth" op_type: "OneHot" input: "labels" input: "minus" input: "pair" output: "o24" }
  node { name: "known depth" op_type: "OneHot" input: "labels" input: "label" input: "pair" output: "o25" }
  node { name: "eye" op_type: "EyeLike" input: "v3" output: "o26" }
  node { name: "condition" op_type: "Compress" input: "x" input: "x" output: "o27" }
  node { name: "nothing" op_type: "Compress" input: "x" input: "no" output: "o28" attribute { name: "axis" type: INT i: 0 } }
  node { name: "repeats" op_type: "Tile" input: "x" input: "label" output: "o29" }
  node { name: "repeat" op_type: "Tile" input: "x" input: "none" output: "o30" }
  node { name: "often" op_type: "Tile" input: "x" input: "many" output: "o31" }
  node { name: "pad" op_type: "Pad" input: "x" input: "pads" output: "o32" attribute { name: "mode" type: STRING s: "edge" } }
  node { name: "blocks" op_type: "DepthToSpace" input: "x" output: "o33" attribute { name: "blocksize" type: INT i: 2 } }
  node { name: "pixels" op_type: "SpaceToDepth" input: "x" output: "o34" attribute { name: "blocksize" type: INT i: 2 } }
  node { name: "crop" op_type: "Resize" input: "x" input: "" input: "pair" output: "o35" attribute { name: "coordinate_transformation_mode" type: STRING s: "tf_crop_and_resize" } }
  node { name: "sizes" op_type: "Resize" input: "x" input: "" input: "v3" output: "o36" }
  node { name: "shrinks" op_type: "Resize" input: "x" input: "" input: "known" output: "o37" }
  node { name: "p" op_type: "LpNormalization" input: "x" output: "o39" attribute { name: "p" type: INT i: 3 } }
  node { name: "extreme" op_type: "ArgMax" input: "truth" output: "o40" }
  node { name: "axis" op_type: "CumSum" input: "x" input: "label" output: "o41" }
  node { name: "known axis" op_type: "CumSum" input: "known" input: "none" output: "o42" }
  node { name: "long" op_type: "CumSum" input: "long" input: "zero" output: "o43" }
  node { name: "k" op_type: "TopK" input: "x" input: "label" output: "o44" }
  node { name: "too many" op_type: "TopK" input: "x" input: "five" output: "o45" }
  node { name: "bits" op_type: "BitwiseAnd" input: "known" input: "known" output: "o46" }
  node { name: "omitted" op_type: "Max" input: "x" input: "" input: "x" output: "p1" }
  node { name: "bytes" op_type: "OneHot" input: "byte" input: "five" input: "v3" output: "p2" }
  node { name: "byte indices" op_type: "GatherND" input: "x" input: "byte" output: "p3" }
  node { name: "sum" op_type: "ReduceSum" input: "x" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

// What the rules of convolutions, pools and norms over channels refuse: every bad node of the model is named in one run.
constexpr char kBadWindows[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } dim { dim_value: 4 } dim { dim_value: 4 } } } } }
  input { name: "flat" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 64 } } } } }
  input { name: "vast" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 1 } dim { dim_value: 2147483648 } } } } }
  input { name: "one" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } dim { dim_value: 1 } dim { dim_value: 1 } dim { dim_value: 1 } dim { dim_value: 1 } } } } }
  initializer { name: "w" data_type: 1 dims: 3 dims: 4 dims: 1 dims: 1 float_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
  initializer { name: "u" data_type: 1 dims: 4 dims: 3 dims: 1 dims: 1 float_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
  initializer { name: "i" data_type: 7 dims: 3 dims: 4 dims: 1 dims: 1 int64_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
  initializer { name: "v4" data_type: 1 dims: 4 float_data: [1, 2, 3, 4] }
  initializer { name: "m4" data_type: 1 dims: 4 float_data: [5, 6, 7, 8] }
  initializer { name: "mean1" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }
  initializer { name: "var1" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }
  initializer { name: "mean2" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }
  initializer { name: "var2" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }
  initializer { name: "first" data_type: 7 dims: 1 int64_data: 0 }
  initializer { name: "second" data_type: 7 dims: 1 int64_data: 1 }
  node { name: "flat" op_type: "MaxPool" input: "flat" output: "o1" attribute { name: "kernel_shape" type: INTS ints: 2 } }
  node { name: "vast" op_type: "MaxPool" input: "vast" output: "o35" attribute { name: "kernel_shape" type: INTS ints: 2 } }
  node { name: "strides" op_type: "MaxPool" input: "x" output: "o2" attribute { name: "kernel_shape" type: INTS ints: [2, 2] } attribute { name: "strides" type: INTS ints: 2 } }
  node { name: "zero" op_type: "MaxPool" input: "x" output: "o3" attribute { name: "kernel_shape" type: INTS ints: [2, 0] } }
  node { name: "far" op_type: "MaxPool" input: "x" output: "o4" attribute { name: "kernel_shape" type: INTS ints: [2, 2] } attribute { name: "pads" type: INTS ints: [0, 0, 0, 9000000000] } }
  node { name: "auto" op_type: "MaxPool" input: "x" output: "o5" attribute { name: "kernel_shape" type: INTS ints: [2, 2] } attribute { name: "auto_pad" type: STRING s: "MOST" } }
  node { name: "wide" op_type: "MaxPool" input: "x" output: "o6" attribute { name: "kernel_shape" type: INTS ints: [5, 1] } }
  node { name: "padding" op_type: "AveragePool" input: "x" output: "o7" attribute { name: "kernel_shape" type: INTS ints: [2, 2] } attribute { name: "pads" type: INTS ints: [2, 0, 0, 0] } }
  node { name: "long" op_type: "MaxPool" input: "x" output: "o8" attribute { name: "kernel_shape" type: INTS ints: [1, 2] } attribute { name: "pads" type: INTS ints: [0, 0, 0, 1000000000] } }
  node { name: "indices" op_type: "MaxPool" input: "x" output: "o9" output: "o10" attribute { name: "kernel_shape" type: INTS ints: [2, 2] } }
  node { name: "type" op_type: "Conv" input: "x" input: "i" output: "o11" }
  node { name: "groups" op_type: "Conv" input: "x" input: "w" output: "o12" attribute { name: "group" type: INT i: 2 } }
  node { name: "kernel" op_type: "Conv" input: "x" input: "w" output: "o13" attribute { name: "kernel_shape" type: INTS ints: [3, 1] } }
  node { name: "bias" op_type: "Conv" input: "x" input: "w" input: "v4" output: "o14" }
  node { name: "rank" op_type: "ConvTranspose" input: "x" input: "v4" output: "o15" }
  node { name: "turned" op_type: "ConvTranspose" input: "x" input: "w" output: "o16" }
  node { name: "outputs" op_type: "ConvTranspose" input: "x" input: "u" output: "o17" attribute { name: "output_shape" type: INTS ints: 4 } }
  node { name: "extra" op_type: "ConvTranspose" input: "x" input: "u" output: "o18" attribute { name: "output_padding" type: INTS ints: [-1, 0] } }
  node { name: "nothing" op_type: "ConvTranspose" input: "x" input: "u" output: "o19" attribute { name: "pads" type: INTS ints: [2, 0, 2, 0] } }
  node { name: "power" op_type: "LpPool" input: "x" output: "o20" attribute { name: "kernel_shape" type: INTS ints: [2, 2] } attribute { name: "p" type: INT i: 0 } }
  node { name: "all powers" op_type: "GlobalLpPool" input: "x" output: "o21" attribute { name: "p" type: INT i: 0 } }
  node { name: "no plane" op_type: "GlobalAveragePool" input: "flat" output: "o22" }
  node { name: "many" op_type: "GlobalMaxPool" input: "one" output: "o23" }
  node { name: "lrn" op_type: "LRN" input: "x" output: "o24" attribute { name: "size" i: 0 type: INT } }
  node { name: "scale" op_type: "BatchNormalization" input: "x" input: "w" input: "v4" input: "v4" input: "m4" output: "o25" }
  node { name: "cut" op_type: "Slice" input: "one" input: "first" input: "second" input: "first" output: "sample" }
  node { name: "single" op_type: "BatchNormalization" input: "sample" input: "v4" input: "v4" input: "mean1" input: "var1" output: "o26" attribute { name: "training_mode" type: INT i: 1 } }
  node { name: "outputs of inference" op_type: "BatchNormalization" input: "x" input: "v4" input: "v4" input: "v4" input: "m4" output: "o27" output: "o28" }
  node { name: "four" op_type: "BatchNormalization" input: "x" input: "v4" input: "v4" input: "mean2" input: "var2" output: "o29" output: "o30" output: "o31" output: "o32" attribute { name: "training_mode" type: INT i: 1 } }
  node { name: "norm rank" op_type: "InstanceNormalization" input: "flat" input: "v4" input: "v4" output: "o33" }
  node { name: "num_groups" op_type: "GroupNormalization" input: "x" input: "v4" input: "v4" output: "o34" attribute { name: "num_groups" type: INT i: 3 } }
  node { name: "sum" op_type: "ReduceSum" input: "x" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

// Running averages that something else reads too, or that are mean and variance at once.
constexpr char kBadBatchNorm[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } dim { dim_value: 3 } } } } }
  initializer { name: "a.weight" data_type: 1 dims: 4 float_data: [1, 2, 3, 4] }
  initializer { name: "a.bias" data_type: 1 dims: 4 float_data: [4, 3, 2, 1] }
  initializer { name: "a.running_mean" data_type: 1 dims: 4 float_data: [0, 0, 0, 0] }
  initializer { name: "a.running_var" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }
  initializer { name: "b.weight" data_type: 1 dims: 4 float_data: [1, 2, 3, 4] }
  initializer { name: "b.bias" data_type: 1 dims: 4 float_data: [4, 3, 2, 1] }
  initializer { name: "b.running_mean" data_type: 1 dims: 4 float_data: [0, 0, 0, 0] }
  initializer { name: "b.running_var" data_type: 1 dims: 4 float_data: [1, 1, 1, 1] }
  node { name: "norm" op_type: "BatchNormalization" input: "x" input: "a.weight" input: "a.bias" input: "a.running_mean" input: "a.running_var" output: "y1" attribute { name: "training_mode" type: INT i: 1 } }
  node { name: "other" op_type: "Add" input: "y1" input: "a.running_mean" output: "y2" }
  node { name: "twice" op_type: "BatchNormalization" input: "x" input: "b.weight" input: "b.bias" input: "b.running_mean" input: "b.running_mean" output: "y3" attribute { name: "training_mode" type: INT i: 1 } }
  node { name: "sum 0" op_type: "ReduceSum" input: "y2" output: "s0" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "sum 1" op_type: "ReduceSum" input: "y3" output: "s1" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "sum" op_type: "Sum" input: "s0" input: "s1" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

const Refusal kTable[] = {
    {"Operators", "batch: {micro: 2}", kBadOperators,
     R"(
error: node 'fmod' (Mod) divides floats, which requires fmod = 1
error: node 'known fmod' (Mod) divides floats, which requires fmod = 1
error: node 'celu' (Celu) divides by alpha = 0
error: node 'integers' (Elu) needs a float input
error: node 'prelu' (PRelu) needs a float input, and a slope that broadcasts to its shape
error: node 'einsum count' (Einsum) has an equation for 2 inputs, but the node has 1
error: node 'einsum rank' (Einsum) has the term 'ijk' for an input of rank 2
error: node 'einsum text' (Einsum) has an equation with a character that is not a letter, or with more than 26 letters
error: node 'einsum result' (Einsum) has the output term 'k'; each letter of the output must occur in an input, and only once in the output
error: node 'einsum sizes' (Einsum) has a letter with different sizes, 3 and 4
error: node 'diagonal' (Einsum) repeats a letter within one input (a diagonal), which is not supported
error: node 'einsum type' (Einsum) needs float inputs of one type
error: node 'rank' (GatherElements) has indices of rank 1, but data of rank 2
error: node 'more' (GatherElements) has indices of size 3 in dimension 0, but data of size 2
error: node 'outside' (GatherElements) has index 9 for a dimension of size 4
error: node 'product' (ScatterElements) has index 9 for a dimension of size 4
error: node 'reduction' (ScatterElements) has reduction 'mul'; none, add, max and min are supported
error: node 'type' (ScatterElements) needs updates of the data's type
error: node 'updates' (ScatterElements) needs updates of the same shape as the indices
error: node 'scattered ints' (ScatterElements) adds to integers at indices that are not known when the model is compiled, which is supported for floats only
error: node 'nd' (ScatterND) has indices of shape [3, 4]; the last dimension must have a size of 1 to 2, the rank of the data
error: node 'nd updates' (ScatterND) has updates of shape [3], must be [2, 4]
error: node 'nd outside' (GatherND) has index 9 for a dimension of size 2
error: node 'depth' (OneHot) has depth -1; it must be at least 1
error: node 'known depth' (OneHot) needs numeric indices, a depth that is known when the model is compiled, and two values
error: node 'eye' (EyeLike) needs an input of rank 2 and a supported dtype
error: node 'condition' (Compress) needs a condition that is known when the model is compiled
error: node 'nothing' (Compress) selects no elements, or elements outside the tensor
error: node 'repeats' (Tile) needs repeats that are known when the model is compiled
error: node 'repeat' (Tile) needs a positive number of repeats for each of 2 dimensions
error: node 'often' (Tile) has a repeat count of 4611686018427387904, which is too large for a dimension of size 2
error: node 'pad' (Pad) pads a dimension to 1073741828 elements, but at most 33554432 are supported
error: node 'blocks' (DepthToSpace) needs an input of rank 4 whose channels are a multiple of blocksize^2, and mode DCR or CRD
error: node 'pixels' (SpaceToDepth) needs an input of rank 4 whose last two dimensions are multiples of blocksize
error: node 'crop' (Resize) needs a float input, and a supported mode and coordinate_transformation_mode (not tf_crop_and_resize)
error: node 'sizes' (Resize) needs a scale or a size, known when the model is compiled, for each axis
error: node 'shrinks' (Resize) resizes 4 elements to 0, which is not supported
error: node 'p' (LpNormalization) has p = 3; 1 and 2 are supported
error: node 'extreme' (ArgMax) needs a numeric input
error: node 'axis' (CumSum) needs a numeric input, and one axis that is known when the model is compiled
error: node 'known axis' (CumSum) needs one axis
error: node 'long' (CumSum) works along a dimension of 8193 elements, but at most 8192 are supported
error: node 'k' (TopK) needs a numeric input, and a k that is known when the model is compiled
error: node 'too many' (TopK) has k = 5, which must be between 1 and 4
error: node 'bits' (BitwiseAnd) needs int32 or int64 inputs
error: node 'omitted' (Max) needs input 1
error: node 'bytes' (OneHot) needs numeric indices, a depth that is known when the model is compiled, and two values
error: node 'byte indices' (GatherND) needs integer indices
)"},
    {"Windows", "batch: {micro: 2}", kBadWindows,
     R"(
error: node 'flat' (MaxPool) needs a float input with one to three spatial dimensions, but its shape is [2, 64]
error: node 'vast' (MaxPool) has a spatial dimension of 2147483648 elements; 1 to 2147483647 are supported
error: node 'strides' (MaxPool) needs a kernel size, stride, dilation and two pads for each of 2 spatial dimensions
error: node 'zero' (MaxPool) has a kernel size, stride or dilation of 0; 1 to 2147483647 are supported
error: node 'far' (MaxPool) has a pad of 9000000000 elements; -2147483647 to 2147483647 are supported
error: node 'auto' (MaxPool) has auto_pad = 'MOST'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are supported
error: node 'wide' (MaxPool) has windows of 5 elements, but the padded dimension has 4
error: node 'padding' (AveragePool) has windows entirely inside the padding
error: node 'long' (MaxPool) has an output dimension of 1000000003 elements; 1 to 33554432 are supported
error: node 'indices' (MaxPool) has an output for indices, which is not supported
error: node 'type' (Conv) needs an input and a weight of one type and rank, with spatial dimensions
error: node 'groups' (Conv) has a weight of shape [3, 4, 1, 1] and group = 2, which do not match an input of 4 channels
error: node 'kernel' (Conv) has kernel_shape [3, 1], but the kernel of its weight is [1, 1]
error: node 'bias' (Conv) needs a bias of 3 elements of the input's type
error: node 'rank' (ConvTranspose) needs an input and a weight of one type and rank, with spatial dimensions
error: node 'turned' (ConvTranspose) has a weight of shape [3, 4, 1, 1] and group = 1, which do not match an input of 4 channels
error: node 'outputs' (ConvTranspose) needs output_padding and output_shape, if given, to have one element for each of 2 spatial dimensions
error: node 'extra' (ConvTranspose) has an output padding of -1; 0 to 2147483647 are supported
error: node 'nothing' (ConvTranspose) has an output dimension of 0 elements; 1 to 2147483647 are supported
error: node 'power' (LpPool) needs p >= 1
error: node 'all powers' (GlobalLpPool) needs p >= 1
error: node 'no plane' (GlobalAveragePool) needs a float input with spatial dimensions
error: node 'many' (GlobalMaxPool) needs one to three spatial dimensions
error: node 'lrn' (LRN) needs a float input with spatial dimensions, and a positive attribute 'size'
error: node 'scale' (BatchNormalization) needs a vector of 4 elements, with the element type of input 0, as input 1
error: node 'single' (BatchNormalization) has one element for each channel, so the variance is not defined; use a micro-batch of 2 or more
error: node 'outputs of inference' (BatchNormalization) has outputs for running averages, which require training_mode = 1
error: node 'four' (BatchNormalization) has more than three outputs
error: node 'norm rank' (InstanceNormalization) needs a float input of rank 3 or more
error: node 'num_groups' (GroupNormalization) has num_groups = 3, which does not divide 4 channels
)"},
    {"BatchNorm", R"(
batch: {micro: 2}
loss: {output: c}
)",
     kBadBatchNorm,
     R"(
error: node 'twice' (BatchNormalization) reads 'b.running_mean' both as the running mean and as the running variance
error: node 'other' (Add) reads 'a.running_mean', which holds running averages of a batch norm; only batch norms may read them
)"},
};

} // namespace

llvm::ArrayRef<Refusal> listRefusedOperators() { return kTable; }

} // namespace xlc
