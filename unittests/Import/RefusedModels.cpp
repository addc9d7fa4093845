// What Import refuses of a model as a whole: what its exporter wrote down, dimensions, operators that are not known.
#include "Refusals.h"

namespace xlc {
namespace {

// Keys of our own that stand where they mean nothing.
constexpr char kBadMetadata[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  initializer { name: "zero" data_type: 7 int64_data: 0 }
  node { name: "stop" op_type: "Relu" input: "x" output: "y" metadata_props { key: "xlc.stop_gradient" value: "1" } }
  node { name: "row" op_type: "Gather" input: "y" input: "zero" output: "z" metadata_props { key: "xlc.padding_idx" value: "one" } }
  output { name: "z" type { tensor_type { elem_type: 1 } } }
}
)";

// Rules that stand in two places, for known values and for tensors of the model: the place that the other tests leave out.
constexpr char kBadTwins[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  input { name: "labels" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } }
  initializer { name: "pair" data_type: 7 dims: 2 int64_data: [0, 1] }
  initializer { name: "triple" data_type: 7 dims: 3 int64_data: [0, 1, 2] }
  initializer { name: "three" data_type: 7 dims: 1 int64_data: 3 }
  initializer { name: "minus" data_type: 7 dims: 1 int64_data: -1 }
  initializer { name: "yes" data_type: 9 int32_data: 1 }
  node { name: "expand size" op_type: "Expand" input: "pair" input: "minus" output: "o1" }
  node { name: "expand shape" op_type: "Expand" input: "pair" input: "three" output: "o2" }
  node { name: "perm" op_type: "Transpose" input: "pair" output: "o3" attribute { name: "perm" type: INTS ints: [0, 0] } }
  node { name: "not" op_type: "Not" input: "pair" output: "o4" }
  node { name: "where" op_type: "Where" input: "pair" input: "pair" input: "pair" output: "o5" }
  node { name: "where shapes" op_type: "Where" input: "yes" input: "pair" input: "triple" output: "o6" }
  node { name: "where tensors" op_type: "Where" input: "yes" input: "labels" input: "triple" output: "o7" }
  node { name: "concat" op_type: "Concat" input: "x" input: "labels" output: "o8" attribute { name: "axis" type: INT i: 0 } }
  node { name: "leaky" op_type: "LeakyRelu" input: "labels" output: "o9" }
  node { name: "softmax" op_type: "Softmax" input: "labels" output: "o10" }
  node { name: "log softmax" op_type: "LogSoftmax" input: "labels" output: "o11" }
  node { name: "sum" op_type: "ReduceSum" input: "x" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

// Dimensions that the spec leaves open, contradicts or invents.
constexpr char kBadDimensions[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "batch" } dim { dim_param: "sequence" } dim { } } } } }
  input { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
  node { name: "n" op_type: "Relu" input: "x" output: "y" }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
)";

// Every node without a row in the table is listed, in one diagnostic; a note says why ONNX's own have none.
constexpr char kUnsupportedModel[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
  node { name: "wave" op_type: "Det" input: "x" output: "a" }
  node { name: "gpu" op_type: "Relu" domain: "com.vendor" input: "a" output: "b" }
  node { name: "last" op_type: "Unique" input: "b" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

constexpr char kUnsupportedSingle[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
  node { name: "wave" op_type: "Det" input: "x" output: "a" }
  output { name: "a" type { tensor_type { elem_type: 1 } } }
}
)";

constexpr char kUnsupportedRecurrent[] = R"(
opset_import { version: 20 }
  graph {
  metadata_props { key: "pkg.torch.export.ExportedProgram.graph_signature" value: "w: PARAMETER target='r.weight_ih_l0'" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 1 } dim { dim_value: 1 } } } } }
  initializer { name: "W" data_type: 1 dims: 1 dims: 3 dims: 1 float_data: [1, 2, 3] }
  initializer { name: "R" data_type: 1 dims: 1 dims: 3 dims: 1 float_data: [4, 5, 6] }
  node { name: "r" op_type: "GRU" input: "x" input: "W" input: "R" output: "y" attribute { name: "hidden_size" type: INT i: 1 } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
)";

// Forms of supported operators that xlc does not take, and constants of types that nothing in a model may have.
constexpr char kUnsupportedForms[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
  input { name: "labels" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } }
  initializer { name: "v3" data_type: 1 dims: 3 float_data: [1, 2, 3] }
  initializer { name: "v4" data_type: 1 dims: 4 float_data: [1, 2, 3, 4] }
  initializer { name: "zero" data_type: 7 int64_data: 0 }
  initializer { name: "yes" data_type: 9 int32_data: 1 }
  initializer { name: "bytes" data_type: 2 dims: 3 raw_data: "123" }
  initializer { name: "pair" data_type: 7 dims: 2 int64_data: [0, 1] }
  initializer { name: "size" data_type: 7 dims: 1 int64_data: 33554433 }
  node { name: "weights" op_type: "SoftmaxCrossEntropyLoss" input: "x" input: "labels" input: "v3" output: "o1" }
  node { name: "soft" op_type: "NegativeLogLikelihoodLoss" input: "x" input: "x" output: "o2" }
  node { name: "flag" op_type: "Equal" input: "labels" input: "labels" output: "flag" }
  node { name: "ratio" op_type: "Dropout" input: "x" input: "" input: "flag" output: "o3" }
  node { name: "bounds" op_type: "Slice" input: "x" input: "labels" input: "pair" output: "o4" }
  node { name: "sizes" op_type: "Split" input: "x" input: "labels" output: "o5" output: "o6" }
  node { name: "shapes" op_type: "Max" input: "x" input: "v3" output: "o7" }
  node { name: "types" op_type: "Max" input: "x" input: "zero" output: "o8" }
  node { name: "bytes" op_type: "Gather" input: "bytes" input: "labels" output: "o9" }
  node { name: "known" op_type: "Add" input: "zero" input: "yes" output: "o10" }
  node { name: "repeat" op_type: "Expand" input: "zero" input: "size" output: "o11" }
  node { name: "wide" op_type: "Reshape" input: "x" input: "o11" output: "o12" }
  node { name: "sum" op_type: "ReduceSum" input: "x" output: "c" }
  output { name: "c" type { tensor_type { elem_type: 1 } } }
}
)";

const Refusal kTable[] = {
    {"Metadata", "batch: {micro: 2}", kBadMetadata,
     R"(
error: node 'stop' (Relu) has the metadata xlc.stop_gradient = '1'; supported are xlc.stop_gradient = 1 on an Identity, xlc.padding_idx = ROW on a Gather
error: node 'row' (Gather) has the metadata xlc.padding_idx = 'one'; supported are xlc.stop_gradient = 1
)"},
    {"Twins", "batch: {micro: 2}", kBadTwins,
     R"(
error: node 'expand size' (Expand) requests a dimension of size -1, must be at least 0
error: node 'expand shape' (Expand) has an input that does not broadcast to the requested shape
error: node 'perm' (Transpose) has a perm that is not a permutation of 1 dimensions
error: node 'not' (Not) needs a boolean input
error: node 'where' (Where) needs a boolean condition and two values of one type
error: node 'where shapes' (Where) has inputs whose shapes do not broadcast
error: node 'where tensors' (Where) has inputs whose shapes do not broadcast
error: node 'concat' (Concat) has inputs that differ in rank or type
error: node 'leaky' (LeakyRelu) needs a float input
error: node 'softmax' (Softmax) needs a float input
error: node 'log softmax' (LogSoftmax) needs a float input
)"},
    {"Dimensions", "dims: {seqence: 3}", kBadDimensions,
     R"(
error: symbolic dimensions need a value in the spec (dims: {NAME: SIZE}): 'sequence', the unnamed dimension 2 of 'x'
error: dims names 'seqence', which is not a dimension of the model; the model has 'batch', 'sequence'
)"},
    {"DimensionsTwo", R"(
dims: {batch: 3, sequence: 4}
batch: {micro: 2}
)",
     kBadDimensions,
     R"(
error: dimension 'batch' is the batch of input 'x': dims sets it to 3, but batch.micro is 2; remove it from dims
error: dimension 0 of input 'z' is fixed at 1, but batch.micro is 2; export the model with a dynamic batch, or set batch.micro to 1
symbolic dimensions need a value in the spec (dims: {NAME: SIZE}): the unnamed dimension 2 of 'x'
)"},
    {"Unsupported", "batch: {micro: 1}", kUnsupportedModel,
     R"(
error: 3 nodes have an operator that is not supported: node 'wave' (Det), node 'gpu' (Relu) of domain 'com.vendor', node 'last' (Unique)
note: Det: the determinant of a matrix; not used by the supported families
note: Unique: the shape of the result depends on the data
)"},
    {"UnsupportedSingle", "batch: {micro: 1}", kUnsupportedSingle,
     R"(
error: 1 node has an operator that is not supported: node 'wave' (Det)
)"},
    {"UnsupportedRecurrent", "batch: {micro: 1}", kUnsupportedRecurrent,
     R"(
error: 1 node has an operator that is not supported: node 'r' (GRU)
)"},
    {"UnsupportedForms", "batch: {micro: 2}", kUnsupportedForms,
     R"(
error: node 'weights' (SoftmaxCrossEntropyLoss) needs a weight for each of 4 classes
error: node 'soft' (NegativeLogLikelihoodLoss) has class probabilities as labels, which only SoftmaxCrossEntropyLoss supports
error: node 'ratio' (Dropout) needs a training mode that is known when the model is compiled
error: node 'bounds' (Slice) needs bounds that are known when the model is compiled
error: node 'sizes' (Split) needs sizes that are known when the model is compiled
error: node 'shapes' (Max) has inputs that do not broadcast, or differ in element type
error: node 'types' (Max) has inputs that do not broadcast, or differ in element type
error: node 'bytes' (Gather) has input 0 of element type 2, which is not supported for this operator
error: node 'known' (Add) has inputs that differ in element type
error: node 'wide' (Reshape) uses a constant of more than 33554432 elements
)"},
};

} // namespace

llvm::ArrayRef<Refusal> listRefusedModels() { return kTable; }

} // namespace xlc
