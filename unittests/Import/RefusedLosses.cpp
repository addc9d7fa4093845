// Losses that Import refuses: results that are not losses, and losses that micro-batches would change.
#include "Refusals.h"

namespace xlc {
namespace {

// A loss that is missing or of the wrong kind.
constexpr char kBadLoss[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "batch" } dim { dim_value: 4 } } } } }
  initializer { name: "w" data_type: 1 dims: 4 dims: 3 float_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
  initializer { name: "last" data_type: 7 dims: 1 int64_data: 1 }
  node { name: "product" op_type: "MatMul" input: "x" input: "w" output: "scores" }
  node { name: "sum" op_type: "ReduceSum" input: "scores" output: "a" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "mean" op_type: "ReduceMean" input: "scores" output: "b" }
  node { name: "rows" op_type: "ReduceMax" input: "scores" input: "last" output: "flat" attribute { name: "keepdims" type: INT i: 0 } }
  output { name: "scores" type { tensor_type { elem_type: 1 } } } output { name: "a" type { tensor_type { elem_type: 1 } } } output { name: "b" type { tensor_type { elem_type: 1 } } } output { name: "flat" type { tensor_type { elem_type: 1 } } }
}
)";

// A loss that is another function of the pieces of a batch, by what makes it so.
constexpr char kBadCutLossModel[] = R"(
opset_import { version: 20 }
  graph {
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "batch" } dim { dim_value: 4 } } } } }
  input { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "batch" } dim { dim_value: 3 } } } } }
  initializer { name: "w" data_type: 1 dims: 4 dims: 3 float_data: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
  input { name: "t" type { tensor_type { elem_type: 7 shape { dim { dim_param: "batch" } } } } }
  initializer { name: "zero" data_type: 1 float_data: 0 }
  initializer { name: "realOne" data_type: 1 float_data: 1 }
  initializer { name: "none" data_type: 7 int64_data: 0 }
  initializer { name: "single" data_type: 7 int64_data: 1 }
  initializer { name: "three" data_type: 7 int64_data: 3 }
  initializer { name: "all" data_type: 7 dims: 1 int64_data: -1 }
  initializer { name: "one" data_type: 7 dims: 1 int64_data: 1 }
  initializer { name: "first" data_type: 7 dims: 1 int64_data: 0 }
  node { name: "product" op_type: "MatMul" input: "x" input: "w" output: "scores" }
  node { name: "difference" op_type: "Sub" input: "scores" input: "y" output: "d" }
  node { name: "square" op_type: "Mul" input: "d" input: "d" output: "squares" }
  node { name: "mean" op_type: "ReduceMean" input: "squares" output: "mean" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "sum" op_type: "ReduceSum" input: "squares" output: "sum" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "root" op_type: "Sqrt" input: "mean" output: "root" }
  node { name: "turn" op_type: "Transpose" input: "y" output: "turned" }
  node { name: "all" op_type: "MatMul" input: "scores" input: "turned" output: "pairs" }
  node { name: "pairSum" op_type: "ReduceSum" input: "pairs" output: "contrast" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "rowMean" op_type: "ReduceMean" input: "scores" input: "first" output: "centre" }
  node { name: "centred" op_type: "Sub" input: "scores" input: "centre" output: "centred" }
  node { name: "variance" op_type: "ReduceSumSquare" input: "centred" output: "variance" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "divided" op_type: "Div" input: "sum" input: "mean" output: "divided" }
  node { name: "shape" op_type: "Shape" input: "x" output: "shape" }
  node { name: "pick" op_type: "Gather" input: "shape" input: "first" output: "size" }
  node { name: "lessOne" op_type: "Sub" input: "size" input: "one" output: "less" }
  node { name: "toFloat" op_type: "Cast" input: "less" output: "freedom" attribute { name: "to" type: INT i: 1 } }
  node { name: "unbiased" op_type: "Div" input: "sum" input: "freedom" output: "unbiased" }
  node { name: "positive" op_type: "Greater" input: "scores" input: "zero" output: "isKept" }
  node { name: "weight" op_type: "Cast" input: "isKept" output: "kept" attribute { name: "to" type: INT i: 1 } }
  node { name: "keep" op_type: "Mul" input: "squares" input: "kept" output: "left" }
  node { name: "leftSum" op_type: "ReduceSum" input: "left" output: "leftSum" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "count" op_type: "ReduceSum" input: "kept" output: "count" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "masked" op_type: "Div" input: "leftSum" input: "count" output: "masked" }
  node { name: "both" op_type: "Add" input: "masked" input: "mean" output: "counts" }
  node { name: "firstRow" op_type: "Gather" input: "squares" input: "first" output: "row" }
  node { name: "rowSum" op_type: "ReduceSum" input: "row" output: "first_row" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "limit" op_type: "Max" input: "count" input: "realOne" output: "limit" }
  node { name: "limited" op_type: "Div" input: "leftSum" input: "limit" output: "limited" }
  node { name: "batch" op_type: "Squeeze" input: "size" output: "batch" }
  node { name: "numbers" op_type: "Range" input: "none" input: "batch" input: "single" output: "numbers" }
  node { name: "follow" op_type: "Add" input: "numbers" input: "single" output: "following" }
  node { name: "column" op_type: "Unsqueeze" input: "following" input: "one" output: "column" }
  node { name: "label" op_type: "Unsqueeze" input: "t" input: "one" output: "label" }
  node { name: "places" op_type: "Concat" input: "column" input: "label" output: "places" attribute { name: "axis" type: INT i: 1 } }
  node { name: "nextPicks" op_type: "GatherND" input: "squares" input: "places" output: "nextPicks" }
  node { name: "nextMean" op_type: "ReduceMean" input: "nextPicks" output: "next_row" attribute { name: "keepdims" type: INT i: 0 } }
  node { name: "flatten" op_type: "Reshape" input: "squares" input: "all" output: "flat" }
  node { name: "starts" op_type: "Mul" input: "numbers" input: "three" output: "starts" }
  node { name: "bounded" op_type: "Clip" input: "t" input: "none" input: "three" output: "bounded" }
  node { name: "stray" op_type: "Add" input: "starts" input: "bounded" output: "stray" }
  node { name: "strayPicks" op_type: "Gather" input: "flat" input: "stray" output: "strayPicks" }
  node { name: "strayMean" op_type: "ReduceMean" input: "strayPicks" output: "next_place" attribute { name: "keepdims" type: INT i: 0 } }
  output { name: "contrast" type { tensor_type { elem_type: 1 } } } output { name: "variance" type { tensor_type { elem_type: 1 } } } output { name: "root" type { tensor_type { elem_type: 1 } } } output { name: "divided" type { tensor_type { elem_type: 1 } } } output { name: "unbiased" type { tensor_type { elem_type: 1 } } }
  output { name: "counts" type { tensor_type { elem_type: 1 } } } output { name: "first_row" type { tensor_type { elem_type: 1 } } } output { name: "limited" type { tensor_type { elem_type: 1 } } } output { name: "next_row" type { tensor_type { elem_type: 1 } } } output { name: "next_place" type { tensor_type { elem_type: 1 } } }
}
)";

const Refusal kTable[] = {
    {"LossDefault", "batch: {micro: 2}", kBadLoss,
     R"(
error: the model has 2 scalar outputs, but exactly one is required; outputs are 'scores', 'a', 'b', 'flat'; set the loss in the spec (loss: {output: NAME}), or add one (loss: {type: cross_entropy, logits: NAME, labels: NAME})
)"},
    {"LossName", R"(
batch: {micro: 2}
loss: {output: nothing}
)",
     kBadLoss,
     R"(
error: the loss 'nothing' is not an output that depends on the inputs; outputs are 'scores', 'a', 'b', 'flat'
)"},
    {"LossVector", R"(
batch: {micro: 2}
loss: {output: scores}
)",
     kBadLoss,
     R"(
error: the loss 'scores' is not a float scalar; its type is tensor<2x3xf32>
)"},
    {"LossLogits", R"(
batch: {micro: 2}
loss: {type: cross_entropy, logits: nothing, labels: y}
)",
     kBadLoss,
     R"(
error: loss.logits is 'nothing', which is not an output that depends on the inputs; outputs are 'scores'
)"},
    {"LossShift", R"(
batch: {micro: 2}
loss: {type: cross_entropy, logits: scores, labels: y, shift: true}
)",
     kBadLoss,
     R"(
error: loss.shift requires labels for a sequence of 2 or more positions, but their type is tensor<2xi64>
)"},
    {"LossLabels", R"(
batch: {micro: 2}
loss: {type: cross_entropy, logits: scores, labels: x}
)",
     kBadLoss,
     R"(
error: labels 'x' of type tensor<2x4xf32> do not match logits of type tensor<2x3xf32>
)"},
    {"LossFlat", R"(
batch: {micro: 2}
loss: {type: cross_entropy, logits: flat, labels: y}
)",
     kBadLoss,
     R"(
error: logits 'flat' must be floats with a class dimension, but their type is tensor<2xf32>
)"},
    {"CutLossRows", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: contrast}
)",
     kBadCutLossModel,
     R"(
error: the loss 'contrast' of the global batch cannot be computed from the parts of a divided batch (dp = 2, 2 micro-batches of batch.micro = 2): rows of the batch interact at node 'all' (MatMul)
note: with dp = 1 and batch.micro = 8 the batch is not divided; 'loss: {scope: micro_batch}' trains on the mean of the losses of the micro-batches, as PyTorch does with the same division
)"},
    {"CutLossVariance", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: variance}
)",
     kBadCutLossModel,
     R"(
rows of the batch interact at node 'centred' (Sub)
)"},
    {"CutLossRoot", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: root}
)",
     kBadCutLossModel,
     R"(
node 'root' (Sqrt) is not linear and is applied to a sum over the batch
)"},
    {"CutLossDivided", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: divided}
)",
     kBadCutLossModel,
     R"(
node 'divided' (Div) divides by a sum over the batch that has a gradient or more than one element
)"},
    {"CutLossUnbiased", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: unbiased}
)",
     kBadCutLossModel,
     R"(
node 'unbiased' (Div) depends on the number of rows in a different way than a mean
)"},
    {"CutLossCounts", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: counts}
)",
     kBadCutLossModel,
     R"(
its terms are divided by different counts, which cannot be computed before the step, at node 'masked' (Div) and node 'mean' (ReduceMean): the counts must depend on inputs only, and the batch must be dynamic
)"},
    {"CutLossFirst", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: first_row}
)",
     kBadCutLossModel,
     R"(
rows of the batch interact at node 'firstRow' (Gather)
)"},
    {"CutLossLimited", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: limited}
)",
     kBadCutLossModel,
     R"(
node 'limited' (Div) divides by a number that depends on the whole batch, is not a sum over the batch, and cannot be computed before the step: the number must depend on inputs only, and the batch must be dynamic
)"},
    {"CutLossNext", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: next_row}
)",
     kBadCutLossModel,
     R"(
rows of the batch interact at node 'places' (Concat)
)"},
    {"CutLossPlace", R"(
dp: 2
batch: {micro: 2, global: 8}
loss: {output: next_place}
)",
     kBadCutLossModel,
     R"(
rows of the batch interact at node 'stray' (Add)
)"},
};

} // namespace

llvm::ArrayRef<Refusal> listRefusedLosses() { return kTable; }

} // namespace xlc
