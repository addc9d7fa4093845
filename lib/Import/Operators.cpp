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
static const Operator table[] = {
    // name, inputs at least / at most, evaluation, import, what it becomes
    {"Abs",                1, 1, evaluateAbs,            importUnary<graph::AbsOp>,        "abs"},
    {"Acos",               1, 1, evaluateByImport,       importAcos,                       "sqrt, div, atan, sub"},
    {"Acosh",              1, 1, evaluateByImport,       importAcosh,                      "mul, sqrt, log"},
    {"Add",                2, 2, evaluateAdd,            importBinary<graph::AddOp>,       "add"},
    {"And",                2, 2, evaluateAnd,            importBinary<graph::AndOp>,       "and"},
    {"ArgMax",             1, 1, evaluateByImport,       importArgExtremum<Reduction::max>,"reduce, compare, iota, select"},
    {"ArgMin",             1, 1, evaluateByImport,       importArgExtremum<Reduction::min>,"reduce, compare, iota, select"},
    {"Asin",               1, 1, evaluateByImport,       importAsin,                       "sqrt, div, atan"},
    {"Asinh",              1, 1, evaluateByImport,       importAsinh,                      "sqrt, log, select"},
    {"Atan",               1, 1, evaluateByImport,       importUnary<graph::AtanOp>,       "atan"},
    {"Atanh",              1, 1, evaluateByImport,       importAtanh,                      "div, log"},
    {"AveragePool",        1, 1, nullptr,                importAveragePool,                "convolution, scale or div"},
    {"BatchNormalization", 5, 5, nullptr,                importBatchNormalization,         "reduce, sub, mul, sqrt, div, add"},
    {"BitwiseAnd",         2, 2, evaluateBitwiseAnd,     nullptr,                          "known values only"},
    {"BitwiseNot",         1, 1, evaluateBitwiseNot,     nullptr,                          "known values only"},
    {"BitwiseOr",          2, 2, evaluateBitwiseOr,      nullptr,                          "known values only"},
    {"BitwiseXor",         2, 2, evaluateBitwiseXor,     nullptr,                          "known values only"},
    {"Cast",               1, 1, evaluateCast,           importCast,                       "cast"},
    {"CastLike",           2, 2, nullptr, nullptr, "cast", arrangeCastLike},
    {"Ceil",               1, 1, evaluateCeil,           importCeil,                       "neg, floor"},
    {"Celu",               1, 1, nullptr,                importCelu,                       "tanh, div, select"},
    {"Clip",               1, 3, evaluateByImport,       importClip,                       "max, min"},
    {"Compress",           2, 2, evaluateByImport,       importCompress,                   "gather"},
    {"Concat",             1, many, evaluateConcat,      importConcat,                     "concat"},
    {"ConcatFromSequence", 1, 1, nullptr, nullptr, "concat", arrangeConcatFromSequence},
    {"Constant",           0, 0, evaluateConstant,       nullptr,                          "known values only"},
    {"ConstantOfShape",    1, 1, evaluateConstantOfShape, nullptr,                         "known values only"},
    {"Conv",               2, 3, nullptr,                importConv,                       "convolution, add"},
    {"ConvTranspose",      2, 3, nullptr,                importConvTranspose,              "convolution_transpose, add"},
    {"Cos",                1, 1, evaluateCos,            importUnary<graph::CosOp>,        "cos"},
    {"Cosh",               1, 1, evaluateByImport,       importCosh,                       "exp, add, mul"},
    {"CumSum",             2, 2, evaluateCumSum,         importCumSum,                     "compare, select, reduce sum"},
    {"DepthToSpace",       1, 1, evaluateByImport,       importDepthToSpace,               "reshape, transpose"},
    {"Div",                2, 2, evaluateDiv,            importBinary<graph::DivOp>,       "div"},
    {"Dropout",            1, 3, nullptr,                importDropout,                    "nothing (where it drops nothing)"},
    {"Einsum",             1, many, nullptr,                importEinsum,                     "reduce sum, contract, transpose"},
    {"Elu",                1, 1, nullptr,                importElu,                        "tanh, div, select"},
    {"Equal",              2, 2, evaluateEqual,          importCompare<Predicate::eq>,     "compare eq"},
    {"Erf",                1, 1, evaluateErf,            importUnary<graph::ErfOp>,        "erf"},
    {"Exp",                1, 1, evaluateExp,            importUnary<graph::ExpOp>,        "exp"},
    {"Expand",             2, 2, evaluateExpand,         importExpand,                     "broadcast"},
    {"EyeLike",            1, 1, evaluateByImport,       importEyeLike,                    "iota, compare, cast"},
    {"Flatten",            1, 1, evaluateFlatten,        importFlatten,                    "reshape"},
    {"Floor",              1, 1, evaluateFloor,          importUnary<graph::FloorOp>,      "floor"},
    {"Gather",             2, 2, evaluateGather,         importGather,                     "gather"},
    {"GatherElements",     2, 2, evaluateByImport,       importGatherElements,             "gather_elements"},
    {"GatherND",           2, 2, evaluateGatherND,       importGatherND,                   "reshape, gather"},
    {"Gelu",               1, 1, nullptr,                importGelu,                       "gelu"},
    {"Gemm",               2, 3, nullptr,                importGemm,                       "contract, add"},
    {"GlobalAveragePool",  1, 1, nullptr,                importGlobalAveragePool,          "reduce sum, scale"},
    {"GlobalLpPool",       1, 1, nullptr,                importGlobalLpPool,               "pow, reduce sum, pow"},
    {"GlobalMaxPool",      1, 1, nullptr,                importGlobalMaxPool,              "max_pool"},
    {"Greater",            2, 2, evaluateGreater,        importCompare<Predicate::gt>,     "compare gt"},
    {"GreaterOrEqual",     2, 2, evaluateGreaterOrEqual, importCompare<Predicate::ge>,     "compare ge"},
    {"GroupNormalization", 3, 3, nullptr,                importGroupNormalization,         "layer_norm, mul, add"},
    {"HardSigmoid",        1, 1, nullptr,                importHardSigmoid,                "mul, add, max, min"},
    {"HardSwish",          1, 1, nullptr,                importHardSwish,                  "mul, add, max, min"},
    {"Hardmax",            1, 1, nullptr,                importHardmax,                    "reduce, compare, iota, select"},
    {"Identity",           1, 1, nullptr, nullptr, "nothing", arrangeIdentity},
    {"If",                 1, many, nullptr, nullptr, "one of its branches", arrangeIf},
    {"InstanceNormalization", 3, 3, nullptr,             importInstanceNormalization,      "layer_norm, mul, add"},
    {"IsInf",              1, 1, evaluateByImport,       importIsInf,                      "abs, compare eq"},
    {"IsNaN",              1, 1, evaluateIsNaN,          importIsNaN,                      "is_nan"},
    {"LRN",                1, 1, nullptr,                importLRN,                        "mul, convolution, pow, div"},
    {"LayerNormalization", 2, 3, nullptr,                importLayerNormalization,         "layer_norm"},
    {"LeakyRelu",          1, 1, nullptr,                importLeakyRelu,                  "compare, mul, select"},
    {"Less",               2, 2, evaluateLess,           importCompare<Predicate::lt>,     "compare lt"},
    {"LessOrEqual",        2, 2, evaluateLessOrEqual,    importCompare<Predicate::le>,     "compare le"},
    {"Log",                1, 1, evaluateLog,            importUnary<graph::LogOp>,        "log"},
    {"LogSoftmax",         1, 1, nullptr,                importLogSoftmax,                 "reduce, sub, exp, log"},
    {"LpNormalization",    1, 1, nullptr,                importLpNormalization,            "mul, reduce sum, sqrt, div"},
    {"LpPool",             1, 1, nullptr,                importLpPool,                     "pow, convolution, pow"},
    {"MatMul",             2, 2, nullptr,                importMatMul,                     "contract"},
    {"Max",                1, many, evaluateMax,         importVariadic<graph::MaxOp>,     "max"},
    {"MaxPool",            1, 1, nullptr,                importMaxPool,                    "max_pool"},
    {"Mean",               1, many, evaluateByImport,       importMean,                       "add, scale"},
    {"MeanVarianceNormalization",1, 1, nullptr,                importMeanVarianceNormalization,  "reduce sum, scale, sqrt, div"},
    {"Min",                1, many, evaluateMin,         importVariadic<graph::MinOp>,     "min"},
    {"Mish",               1, 1, nullptr,                importMish,                       "exp, log, tanh, mul"},
    {"Mod",                2, 2, evaluateMod,            importMod,                        "div, floor, mul, sub, select"},
    {"Mul",                2, 2, evaluateMul,            importBinary<graph::MulOp>,       "mul"},
    {"Neg",                1, 1, evaluateNeg,            importUnary<graph::NegOp>,        "neg"},
    {"NegativeLogLikelihoodLoss",2, 3, nullptr,                importNegativeLogLikelihoodLoss,  "cross_entropy, or select, reduce sum, div"},
    {"NonZero",            1, 1, evaluateNonZero,        nullptr,                          "known values only"},
    {"Not",                1, 1, evaluateNot,            importNot,                        "not"},
    {"OneHot",             3, 3, evaluateByImport,       importOneHot,                     "iota, compare, select"},
    {"Or",                 2, 2, evaluateOr,             importBinary<graph::OrOp>,        "or"},
    {"PRelu",              2, 2, nullptr,                importPRelu,                      "compare, mul, select"},
    {"Pad",                2, 4, evaluateByImport,       importPad,                        "slice, pad"},
    {"Pow",                2, 2, evaluatePow,            importPow,                        "mul, sqrt, div or pow"},
    {"Range",              3, 3, evaluateRange,          nullptr,                          "known values only"},
    {"Reciprocal",         1, 1, evaluateReciprocal,     importReciprocal,                 "div"},
    {"ReduceL1",           1, 2, evaluateByImport,       importReduceL1,                   "abs, reduce sum"},
    {"ReduceL2",           1, 2, evaluateByImport,       importReduceL2,                   "mul, reduce sum, sqrt"},
    {"ReduceLogSum",       1, 2, evaluateByImport,       importReduceLogSum,               "reduce sum, log"},
    {"ReduceLogSumExp",    1, 2, evaluateByImport,       importReduceLogSumExp,            "reduce, sub, exp, log"},
    {"ReduceMax",          1, 2, evaluateReduceMax,      importReduce<Reduction::max>,     "reduce max"},
    {"ReduceMean",         1, 2, evaluateReduceMean,     importReduceMean,                 "reduce sum, scale"},
    {"ReduceMin",          1, 2, evaluateReduceMin,      importReduce<Reduction::min>,     "reduce min"},
    {"ReduceProd",         1, 2, evaluateReduceProd,     importReduce<Reduction::prod>,    "reduce prod"},
    {"ReduceSum",          1, 2, evaluateReduceSum,      importReduce<Reduction::sum>,     "reduce sum"},
    {"ReduceSumSquare",    1, 2, evaluateByImport,       importReduceSumSquare,            "mul, reduce sum"},
    {"Relu",               1, 1, evaluateByImport,       importRelu,                       "max"},
    {"Reshape",            2, 2, evaluateReshape,        importReshape,                    "reshape"},
    {"Resize",             1, 4, nullptr,                importResize,                     "gather or contract"},
    {"Round",              1, 1, evaluateByImport,       importRound,                      "floor, compare, select"},
    {"ScatterElements",    3, 3, evaluateByImport,       importScatterElements,            "scatter_elements_add, select"},
    {"ScatterND",          3, 3, evaluateByImport,       importScatterND,                  "gather or scatter_add, select"},
    {"Selu",               1, 1, nullptr,                importSelu,                       "tanh, div, select"},
    {"SequenceAt",         2, 2, nullptr, nullptr, "nothing (resolved)", arrangeSequenceAt},
    {"SequenceConstruct",  1, many, nullptr, nullptr, "nothing (resolved)", arrangeSequenceConstruct},
    {"SequenceEmpty",      0, 0, nullptr, nullptr, "nothing (resolved)", arrangeSequenceEmpty},
    {"SequenceErase",      1, 2, nullptr, nullptr, "nothing (resolved)", arrangeSequenceErase},
    {"SequenceInsert",     2, 3, nullptr, nullptr, "nothing (resolved)", arrangeSequenceInsert},
    {"SequenceLength",     1, 1, nullptr, nullptr, "nothing (resolved)", arrangeSequenceLength},
    {"Shape",              1, 1, evaluateShape,          nullptr,                          "known values only"},
    {"Shrink",             1, 1, nullptr,                importShrink,                     "compare, add, sub, select"},
    {"Sigmoid",            1, 1, evaluateByImport,       importSigmoid,                    "neg, exp, add, div"},
    {"Sign",               1, 1, evaluateSign,           importUnary<graph::SignOp>,       "sign"},
    {"Sin",                1, 1, evaluateSin,            importUnary<graph::SinOp>,        "sin"},
    {"Sinh",               1, 1, evaluateByImport,       importSinh,                       "tanh, div, select"},
    {"Size",               1, 1, evaluateSize,           nullptr,                          "known values only"},
    {"Slice",              3, 5, evaluateSlice,          importSlice,                      "slice"},
    {"Softmax",            1, 1, nullptr,                importSoftmax,                    "softmax"},
    {"SoftmaxCrossEntropyLoss", 2, 3, nullptr,           importSoftmaxCrossEntropyLoss,    "cross_entropy"},
    {"Softplus",           1, 1, evaluateByImport,       importSoftplus,                   "abs, exp, log, max, add"},
    {"Softsign",           1, 1, nullptr,                importSoftsign,                   "abs, add, div"},
    {"SpaceToDepth",       1, 1, evaluateByImport,       importSpaceToDepth,               "reshape, transpose"},
    {"Split",              1, 2, evaluateSplit,          importSplit,                      "slice"},
    {"SplitToSequence",    1, 2, nullptr, nullptr, "slice", arrangeSplitToSequence},
    {"Sqrt",               1, 1, evaluateSqrt,           importUnary<graph::SqrtOp>,       "sqrt"},
    {"Squeeze",            1, 2, evaluateSqueeze,        importSqueeze,                    "reshape"},
    {"Sub",                2, 2, evaluateSub,            importBinary<graph::SubOp>,       "sub"},
    {"Sum",                1, many, evaluateByImport,       importVariadic<graph::AddOp>,     "add"},
    {"Tan",                1, 1, evaluateByImport,       importTan,                        "sin, cos, div"},
    {"Tanh",               1, 1, evaluateTanh,           importUnary<graph::TanhOp>,       "tanh"},
    {"ThresholdedRelu",    1, 1, nullptr,                importThresholdedRelu,            "compare, select"},
    {"Tile",               2, 2, evaluateByImport,       importTile,                       "broadcast, reshape"},
    {"TopK",               2, 2, evaluateByImport,       importTopK,                       "compare, select, reduce sum"},
    {"Transpose",          1, 1, evaluateTranspose,      importTranspose,                  "transpose"},
    {"Trilu",              1, 2, evaluateTrilu,          importTrilu,                      "iota, compare, select"},
    {"Unsqueeze",          1, 2, evaluateUnsqueeze,      importUnsqueeze,                  "reshape"},
    {"Where",              3, 3, evaluateWhere,          importWhere,                      "select"},
    {"Xor",                2, 2, evaluateXor,            importCompare<Predicate::ne>,     "compare ne"},
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
         "The operators that xlc imports, and the `graph` ops that each becomes. This page is printed by\n"
         "`xlc docs operators` from the table that imports models (lib/Import/Operators.cpp). An operator of \"known "
         "values\n"
         "only\" is evaluated when the model is compiled, as the shape arithmetic of exporters is; on a tensor that "
         "depends\n"
         "on the inputs it is an error. A model with other operators gets one message that lists all of their "
         "nodes.\n\n"
         "CumSum and TopK compare every pair of elements along their dimension, which may have up to 8192. Indices "
         "that\n"
         "are computed from inputs, and not inputs themselves, are clamped to the dimension that they index.\n\n"
      << "| " << left_justify("operator", 25) << " | " << left_justify("becomes", 42) << " |\n|---|---|\n";
  for (const Operator &row : table)
    out << "| " << left_justify(row.name, 25) << " | " << left_justify(row.becomes, 42) << " |\n";
  out << "\n## Left out\n\n"
         "Every other operator of ONNX (ai.onnx, up to opset 21), and why it has no row. Functions of a file are "
         "inlined,\n"
         "whatever their domain; other domains are not known.\n\n"
         "| operator | why |\n|---|---|\n";
  forEachLeftOut(
      [&](StringRef name, StringRef reason) { out << "| " << left_justify(name, 21) << " | " << reason << " |\n"; });
}
