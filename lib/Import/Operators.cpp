// The table of ONNX operators: one row each, naming the rule that evaluates it when its inputs are
// known and the rule that composes `graph` ops otherwise. docs/Operators.md is printed from it.
#include "Rules.h"

#include "llvm/Support/Format.h"

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

using graph::Predicate;
using graph::Reduction;

constexpr int many = 1 << 20;

// clang-format off
static constexpr Operator table[] = {
    // name, inputs at least / at most, most results, attributes (!: required), evaluation, import, what it becomes
    {"Abs", 1, 1, 1, "", evaluateAbs, importUnary<graph::AbsOp>, "abs"},
    {"Acos", 1, 1, 1, "", evaluateByImport, importAcos, "sqrt, div, atan, sub"},
    {"Acosh", 1, 1, 1, "", evaluateByImport, importAcosh, "mul, sqrt, log"},
    {"Add", 2, 2, 1, "", evaluateAdd, importBinary<graph::AddOp>, "add"},
    {"And", 2, 2, 1, "", evaluateAnd, importBinary<graph::AndOp>, "and"},
    {"ArgMax", 1, 1, 1, "axis keepdims select_last_index", evaluateByImport, importArgExtremum<Reduction::max>,"reduce, compare, iota, select"},
    {"ArgMin", 1, 1, 1, "axis keepdims select_last_index", evaluateByImport, importArgExtremum<Reduction::min>,"reduce, compare, iota, select"},
    {"Asin", 1, 1, 1, "", evaluateByImport, importAsin, "sqrt, div, atan"},
    {"Asinh", 1, 1, 1, "", evaluateByImport, importAsinh, "sqrt, log, select"},
    {"Atan", 1, 1, 1, "", evaluateByImport, importUnary<graph::AtanOp>, "atan"},
    {"Atanh", 1, 1, 1, "", evaluateByImport, importAtanh, "div, log"},
    {"AveragePool", 1, 1, 1, "auto_pad ceil_mode count_include_pad dilations !kernel_shape pads strides", nullptr, importAveragePool, "convolution, scale or div"},
    {"BatchNormalization", 5, 5, 5, "epsilon momentum training_mode", nullptr, importBatchNormalization, "reduce, sub, mul, sqrt, div, add"},
    {"Bernoulli", 1, 1, 1, "dtype seed", nullptr, importBernoulli, "random_bits, compare, cast"},
    {"BitwiseAnd", 2, 2, 1, "", evaluateBitwiseAnd, nullptr, "known values only"},
    {"BitwiseNot", 1, 1, 1, "", evaluateBitwiseNot, nullptr, "known values only"},
    {"BitwiseOr", 2, 2, 1, "", evaluateBitwiseOr, nullptr, "known values only"},
    {"BitwiseXor", 2, 2, 1, "", evaluateBitwiseXor, nullptr, "known values only"},
    {"Cast", 1, 1, 1, "saturate !to", evaluateCast, importCast, "cast"},
    {"CastLike", 2, 2, 1, "saturate", nullptr, nullptr, "cast", arrangeCastLike},
    {"Ceil", 1, 1, 1, "", evaluateCeil, importCeil, "neg, floor"},
    {"Celu", 1, 1, 1, "alpha", nullptr, importCelu, "tanh, div, select"},
    {"Clip", 1, 3, 1, "", evaluateByImport, importClip, "max, min"},
    {"Compress", 2, 2, 1, "axis", evaluateByImport, importCompress, "gather"},
    {"Concat", 1, many, 1, "!axis", evaluateConcat, importConcat, "concat"},
    {"ConcatFromSequence", 1, 1, 1, "!axis new_axis", nullptr, nullptr, "concat", arrangeConcatFromSequence},
    {"Constant", 0, 0, 1, "sparse_value value value_float value_floats value_int value_ints value_string value_strings", evaluateConstant, nullptr, "known values only"},
    {"ConstantOfShape", 1, 1, 1, "value", evaluateConstantOfShape, nullptr, "known values only"},
    {"Conv", 2, 3, 1, "auto_pad dilations group kernel_shape pads strides", nullptr, importConv, "convolution, add"},
    {"ConvTranspose", 2, 3, 1, "auto_pad dilations group kernel_shape output_padding output_shape pads strides", nullptr, importConvTranspose, "convolution_transpose, add"},
    {"Cos", 1, 1, 1, "", evaluateCos, importUnary<graph::CosOp>, "cos"},
    {"Cosh", 1, 1, 1, "", evaluateByImport, importCosh, "exp, add, mul"},
    {"CumSum", 2, 2, 1, "exclusive reverse", evaluateCumSum, importCumSum, "compare, select, reduce sum"},
    {"DepthToSpace", 1, 1, 1, "!blocksize mode", evaluateByImport, importDepthToSpace, "reshape, transpose"},
    {"Div", 2, 2, 1, "", evaluateDiv, importBinary<graph::DivOp>, "div"},
    {"Dropout", 1, 3, 2, "seed", nullptr, importDropout,
     "random_bits, compare, scale, select; nothing if it does not drop elements"},
    {"Einsum", 1, many, 1, "!equation", nullptr, importEinsum, "reduce sum, contract, transpose"},
    {"Elu", 1, 1, 1, "alpha", nullptr, importElu, "tanh, div, select"},
    {"Equal", 2, 2, 1, "", evaluateEqual, importCompare<Predicate::eq>, "compare eq"},
    {"Erf", 1, 1, 1, "", evaluateErf, importUnary<graph::ErfOp>, "erf"},
    {"Exp", 1, 1, 1, "", evaluateExp, importUnary<graph::ExpOp>, "exp"},
    {"Expand", 2, 2, 1, "", evaluateExpand, importExpand, "broadcast"},
    {"EyeLike", 1, 1, 1, "dtype k", evaluateByImport, importEyeLike, "iota, compare, cast"},
    {"Flatten", 1, 1, 1, "axis", evaluateFlatten, importFlatten, "reshape"},
    {"Floor", 1, 1, 1, "", evaluateFloor, importUnary<graph::FloorOp>, "floor"},
    {"Gather", 2, 2, 1, "axis", evaluateGather, importGather, "gather"},
    {"GatherElements", 2, 2, 1, "axis", evaluateByImport, importGatherElements, "gather_elements"},
    {"GatherND", 2, 2, 1, "batch_dims", evaluateGatherND, importGatherND, "reshape, gather"},
    {"Gelu", 1, 1, 1, "approximate", nullptr, importGelu, "gelu"},
    {"Gemm", 2, 3, 1, "alpha beta transA transB", nullptr, importGemm, "contract, add"},
    {"GlobalAveragePool", 1, 1, 1, "", nullptr, importGlobalAveragePool, "reduce sum, scale"},
    {"GlobalLpPool", 1, 1, 1, "p", nullptr, importGlobalLpPool, "pow, reduce sum, pow"},
    {"GlobalMaxPool", 1, 1, 1, "", nullptr, importGlobalMaxPool, "max_pool"},
    {"Greater", 2, 2, 1, "", evaluateGreater, importCompare<Predicate::gt>, "compare gt"},
    {"GreaterOrEqual", 2, 2, 1, "", evaluateGreaterOrEqual, importCompare<Predicate::ge>, "compare ge"},
    {"GroupNormalization", 3, 3, 1, "epsilon !num_groups stash_type", nullptr, importGroupNormalization, "layer_norm, mul, add"},
    {"HardSigmoid", 1, 1, 1, "alpha beta", nullptr, importHardSigmoid, "mul, add, max, min"},
    {"HardSwish", 1, 1, 1, "", nullptr, importHardSwish, "mul, add, max, min"},
    {"Hardmax", 1, 1, 1, "axis", nullptr, importHardmax, "reduce, compare, iota, select"},
    {"Identity", 1, 1, 1, "", nullptr, nullptr, "nothing", arrangeIdentity},
    {"If", 1, many, many, "else_branch then_branch", nullptr, nullptr, "one of its branches", arrangeIf},
    {"InstanceNormalization", 3, 3, 1, "epsilon", nullptr, importInstanceNormalization, "layer_norm, mul, add"},
    {"IsInf", 1, 1, 1, "detect_negative detect_positive", evaluateByImport, importIsInf, "abs, compare eq"},
    {"IsNaN", 1, 1, 1, "", evaluateIsNaN, importIsNaN, "is_nan"},
    {"LRN", 1, 1, 1, "alpha beta bias !size", nullptr, importLRN, "mul, convolution, pow, div"},
    {"LayerNormalization", 2, 3, 3, "axis epsilon stash_type", nullptr, importLayerNormalization, "layer_norm"},
    {"LeakyRelu", 1, 1, 1, "alpha", nullptr, importLeakyRelu, "compare, mul, select"},
    {"Less", 2, 2, 1, "", evaluateLess, importCompare<Predicate::lt>, "compare lt"},
    {"LessOrEqual", 2, 2, 1, "", evaluateLessOrEqual, importCompare<Predicate::le>, "compare le"},
    {"Log", 1, 1, 1, "", evaluateLog, importUnary<graph::LogOp>, "log"},
    {"LogSoftmax", 1, 1, 1, "axis", nullptr, importLogSoftmax, "reduce, sub, exp, log"},
    {"LpNormalization", 1, 1, 1, "axis p", nullptr, importLpNormalization, "mul, reduce sum, sqrt, div"},
    {"LpPool", 1, 1, 1, "auto_pad ceil_mode dilations !kernel_shape p pads strides", nullptr, importLpPool, "pow, convolution, pow"},
    {"MatMul", 2, 2, 1, "", nullptr, importMatMul, "contract"},
    {"Max", 1, many, 1, "", evaluateMax, importVariadic<graph::MaxOp>, "max"},
    {"MaxPool", 1, 1, 2, "auto_pad ceil_mode dilations !kernel_shape pads storage_order strides", nullptr, importMaxPool, "max_pool"},
    {"Mean", 1, many, 1, "", evaluateByImport, importMean, "add, scale"},
    {"MeanVarianceNormalization", 1, 1, 1, "axes", nullptr, importMeanVarianceNormalization, "reduce sum, scale, sqrt, div"},
    {"Min", 1, many, 1, "", evaluateMin, importVariadic<graph::MinOp>, "min"},
    {"Mish", 1, 1, 1, "", nullptr, importMish, "exp, log, tanh, mul"},
    {"Mod", 2, 2, 1, "fmod", evaluateMod, importMod, "div, floor, mul, sub, select"},
    {"Mul", 2, 2, 1, "", evaluateMul, importBinary<graph::MulOp>, "mul"},
    {"Neg", 1, 1, 1, "", evaluateNeg, importUnary<graph::NegOp>, "neg"},
    {"NegativeLogLikelihoodLoss", 2, 3, 1, "ignore_index reduction", nullptr, importNegativeLogLikelihoodLoss, "cross_entropy, or select, reduce sum, div"},
    {"NonZero", 1, 1, 1, "", evaluateNonZero, nullptr, "known values only"},
    {"Not", 1, 1, 1, "", evaluateNot, importNot, "not"},
    {"OneHot", 3, 3, 1, "axis", evaluateByImport, importOneHot, "iota, compare, select"},
    {"Or", 2, 2, 1, "", evaluateOr, importBinary<graph::OrOp>, "or"},
    {"PRelu", 2, 2, 1, "", nullptr, importPRelu, "compare, mul, select"},
    {"Pad", 2, 4, 1, "mode", evaluateByImport, importPad, "slice, pad"},
    {"Pow", 2, 2, 1, "", evaluatePow, importPow, "mul, sqrt, div or pow"},
    {"RandomNormal", 0, 0, 1, "dtype mean scale seed !shape", nullptr, importRandomNormal,
     "random_bits, log, sqrt, cos, sin, select"},
    {"RandomNormalLike", 1, 1, 1, "dtype mean scale seed", nullptr, importRandomNormal,
     "random_bits, log, sqrt, cos, sin, select"},
    {"RandomUniform", 0, 0, 1, "dtype high low seed !shape", nullptr, importRandomUniform, "random_bits, cast, scale"},
    {"RandomUniformLike", 1, 1, 1, "dtype high low seed", nullptr, importRandomUniform, "random_bits, cast, scale"},
    {"Range", 3, 3, 1, "", evaluateRange, nullptr, "known values only"},
    {"Reciprocal", 1, 1, 1, "", evaluateReciprocal, importReciprocal, "div"},
    {"ReduceL1", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateByImport, importReduceL1, "abs, reduce sum"},
    {"ReduceL2", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateByImport, importReduceL2, "mul, reduce sum, sqrt"},
    {"ReduceLogSum", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateByImport, importReduceLogSum, "reduce sum, log"},
    {"ReduceLogSumExp", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateByImport, importReduceLogSumExp, "reduce, sub, exp, log"},
    {"ReduceMax", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateReduceMax, importReduce<Reduction::max>, "reduce max"},
    {"ReduceMean", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateReduceMean, importReduceMean, "reduce sum, scale"},
    {"ReduceMin", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateReduceMin, importReduce<Reduction::min>, "reduce min"},
    {"ReduceProd", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateReduceProd, importReduce<Reduction::prod>, "reduce prod"},
    {"ReduceSum", 1, 2, 1, "keepdims noop_with_empty_axes", evaluateReduceSum, importReduce<Reduction::sum>, "reduce sum"},
    {"ReduceSumSquare", 1, 2, 1, "axes keepdims noop_with_empty_axes", evaluateByImport, importReduceSumSquare, "mul, reduce sum"},
    {"Relu", 1, 1, 1, "", evaluateByImport, importRelu, "max"},
    {"Reshape", 2, 2, 1, "allowzero", evaluateReshape, importReshape, "reshape"},
    {"Resize", 1, 4, 1, "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value keep_aspect_ratio_policy mode nearest_mode", nullptr, importResize, "gather or contract"},
    {"Round", 1, 1, 1, "", evaluateByImport, importRound, "floor, compare, select"},
    {"ScatterElements", 3, 3, 1, "axis reduction", evaluateByImport, importScatterElements, "scatter_elements or scatter_elements_add"},
    {"ScatterND", 3, 3, 1, "reduction", evaluateByImport, importScatterND, "gather, scatter_elements or scatter_add"},
    {"Selu", 1, 1, 1, "alpha gamma", nullptr, importSelu, "tanh, div, select"},
    {"SequenceAt", 2, 2, 1, "", nullptr, nullptr, "nothing (resolved)", arrangeSequenceAt},
    {"SequenceConstruct", 1, many, 1, "", nullptr, nullptr, "nothing (resolved)", arrangeSequenceConstruct},
    {"SequenceEmpty", 0, 0, 1, "dtype", nullptr, nullptr, "nothing (resolved)", arrangeSequenceEmpty},
    {"SequenceErase", 1, 2, 1, "", nullptr, nullptr, "nothing (resolved)", arrangeSequenceErase},
    {"SequenceInsert", 2, 3, 1, "", nullptr, nullptr, "nothing (resolved)", arrangeSequenceInsert},
    {"SequenceLength", 1, 1, 1, "", nullptr, nullptr, "nothing (resolved)", arrangeSequenceLength},
    {"SequenceMap", 1, many, many, "body", nullptr, nullptr, "its body (resolved)", arrangeSequenceMap},
    {"Shape", 1, 1, 1, "end start", evaluateShape, nullptr, "known values only"},
    {"Shrink", 1, 1, 1, "bias lambd", nullptr, importShrink, "compare, add, sub, select"},
    {"Sigmoid", 1, 1, 1, "", evaluateByImport, importUnary<graph::SigmoidOp>, "sigmoid"},
    {"Sign", 1, 1, 1, "", evaluateSign, importUnary<graph::SignOp>, "sign"},
    {"Sin", 1, 1, 1, "", evaluateSin, importUnary<graph::SinOp>, "sin"},
    {"Sinh", 1, 1, 1, "", evaluateByImport, importSinh, "tanh, div, select"},
    {"Size", 1, 1, 1, "", evaluateSize, nullptr, "known values only"},
    {"Slice", 3, 5, 1, "", evaluateSlice, importSlice, "slice"},
    {"Softmax", 1, 1, 1, "axis", nullptr, importSoftmax, "softmax"},
    {"SoftmaxCrossEntropyLoss", 2, 3, 2, "ignore_index reduction", nullptr, importSoftmaxCrossEntropyLoss, "cross_entropy"},
    {"Softplus", 1, 1, 1, "", evaluateByImport, importSoftplus, "compare, neg, select, max, exp, log, add"},
    {"Softsign", 1, 1, 1, "", nullptr, importSoftsign, "abs, add, div"},
    {"SpaceToDepth", 1, 1, 1, "!blocksize", evaluateByImport, importSpaceToDepth, "reshape, transpose"},
    {"Split", 1, 2, many, "axis num_outputs", evaluateSplit, importSplit, "slice"},
    {"SplitToSequence", 1, 2, 1, "axis keepdims", nullptr, nullptr, "slice", arrangeSplitToSequence},
    {"Sqrt", 1, 1, 1, "", evaluateSqrt, importUnary<graph::SqrtOp>, "sqrt"},
    {"Squeeze", 1, 2, 1, "", evaluateSqueeze, importSqueeze, "reshape"},
    {"Sub", 2, 2, 1, "", evaluateSub, importBinary<graph::SubOp>, "sub"},
    {"Sum", 1, many, 1, "", evaluateByImport, importVariadic<graph::AddOp>, "add"},
    {"Tan", 1, 1, 1, "", evaluateByImport, importTan, "sin, cos, div"},
    {"Tanh", 1, 1, 1, "", evaluateTanh, importUnary<graph::TanhOp>, "tanh"},
    {"ThresholdedRelu", 1, 1, 1, "alpha", nullptr, importThresholdedRelu, "compare, select"},
    {"Tile", 2, 2, 1, "", evaluateByImport, importTile, "broadcast, reshape"},
    {"TopK", 2, 2, 2, "axis largest sorted", evaluateByImport, importTopK, "compare, select, reduce sum"},
    {"Transpose", 1, 1, 1, "perm", evaluateTranspose, importTranspose, "transpose"},
    {"Trilu", 1, 2, 1, "upper", evaluateTrilu, importTrilu, "iota, compare, select"},
    {"Unsqueeze", 1, 2, 1, "", evaluateUnsqueeze, importUnsqueeze, "reshape"},
    {"Where", 3, 3, 1, "", evaluateWhere, importWhere, "select"},
    {"Xor", 2, 2, 1, "", evaluateXor, importCompare<Predicate::ne>, "compare ne"},
};
// clang-format on

const Operator *xlc::onnx::findOperator(const Node &node) {
  if (!node.domain.empty())
    return nullptr;
  const Operator *row =
      llvm::lower_bound(table, StringRef(node.op), [](const Operator &row, StringRef name) { return row.name < name; });
  return row != std::end(table) && row->name == node.op ? row : nullptr;
}

void xlc::printOperators(raw_ostream &out) {
  out << "# ONNX operators\n\n"
         "This page lists the operators that xlc imports, and the `graph` ops that each operator becomes.\n"
         "`xlc docs operators` prints this page from the table of import rules (lib/Import/Operators.cpp). An "
         "operator\nmarked \"known values only\" is evaluated at compile time, like the shape arithmetic of exporters; "
         "its\noperands must not depend on the inputs of the model. If a model has other operators, one message lists "
         "all of\ntheir nodes.\n\n"
         "CumSum and TopK compare every pair of elements along their dimension, which may have up to 8192 elements. "
         "Indices\n"
         "that are computed from inputs, and are not inputs themselves, are clamped to the dimension that they "
         "index.\n\n"
      << "| " << left_justify("operator", 25) << " | " << left_justify("becomes", 42) << " |\n|---|---|\n";
  for (const Operator &row : table)
    out << "| " << left_justify(row.name, 25) << " | " << left_justify(row.becomes, 42) << " |\n";
  out << "\n## Left out\n\n"
         "The table lists every other operator of ONNX (ai.onnx, up to opset 21), and the reason why it is not "
         "supported.\nFunctions of a file are inlined, even those of other domains; operators of other domains are not "
         "supported.\n\n"
         "| operator | reason |\n|---|---|\n";
  forEachLeftOut(
      [&](StringRef name, StringRef reason) { out << "| " << left_justify(name, 21) << " | " << reason << " |\n"; });
}
