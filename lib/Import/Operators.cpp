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
    {"Add",                2, 2, evaluateAdd,            importBinary<graph::AddOp>,       "add"},
    {"And",                2, 2, evaluateAnd,            importBinary<graph::AndOp>,       "and"},
    {"AveragePool",        1, 1, nullptr,                importAveragePool,                "convolution, scale or div"},
    {"BatchNormalization", 5, 5, nullptr,                importBatchNormalization,         "reduce, sub, mul, sqrt, div, add"},
    {"Cast",               1, 1, evaluateCast,           importCast,                       "cast"},
    {"Ceil",               1, 1, evaluateCeil,           nullptr,                          "known values only"},
    {"Clip",               1, 3, nullptr,                importClip,                       "max, min"},
    {"Concat",             1, many, evaluateConcat,      importConcat,                     "concat"},
    {"Constant",           0, 0, evaluateConstant,       nullptr,                          "known values only"},
    {"ConstantOfShape",    1, 1, evaluateConstantOfShape, nullptr,                         "known values only"},
    {"Conv",               2, 3, nullptr,                importConv,                       "convolution, add"},
    {"ConvTranspose",      2, 3, nullptr,                importConvTranspose,              "convolution_transpose, add"},
    {"Cos",                1, 1, evaluateCos,            importUnary<graph::CosOp>,        "cos"},
    {"CumSum",             2, 2, evaluateCumSum,         nullptr,                          "known values only"},
    {"Div",                2, 2, evaluateDiv,            importBinary<graph::DivOp>,       "div"},
    {"Dropout",            1, 3, nullptr,                importDropout,                    "nothing (inference form only)"},
    {"Equal",              2, 2, evaluateEqual,          importCompare<Predicate::eq>,     "compare eq"},
    {"Erf",                1, 1, evaluateErf,            importUnary<graph::ErfOp>,        "erf"},
    {"Exp",                1, 1, evaluateExp,            importUnary<graph::ExpOp>,        "exp"},
    {"Expand",             2, 2, evaluateExpand,         importExpand,                     "broadcast"},
    {"Flatten",            1, 1, evaluateFlatten,        importFlatten,                    "reshape"},
    {"Floor",              1, 1, evaluateFloor,          nullptr,                          "known values only"},
    {"Gather",             2, 2, evaluateGather,         importGather,                     "gather"},
    {"GatherND",           2, 2, evaluateGatherND,       nullptr,                          "known values only"},
    {"Gelu",               1, 1, nullptr,                importGelu,                       "gelu"},
    {"Gemm",               2, 3, nullptr,                importGemm,                       "contract, add"},
    {"GlobalAveragePool",  1, 1, nullptr,                importGlobalAveragePool,          "reduce sum, scale"},
    {"GlobalLpPool",       1, 1, nullptr,                importGlobalLpPool,               "pow, reduce sum, pow"},
    {"GlobalMaxPool",      1, 1, nullptr,                importGlobalMaxPool,              "max_pool"},
    {"Greater",            2, 2, evaluateGreater,        importCompare<Predicate::gt>,     "compare gt"},
    {"GreaterOrEqual",     2, 2, evaluateGreaterOrEqual, importCompare<Predicate::ge>,     "compare ge"},
    {"GroupNormalization", 3, 3, nullptr,                importGroupNormalization,         "layer_norm, mul, add"},
    {"Identity",           1, 1, evaluateIdentity,       importIdentity,                   "nothing"},
    {"InstanceNormalization", 3, 3, nullptr,             importInstanceNormalization,      "layer_norm, mul, add"},
    {"IsNaN",              1, 1, evaluateIsNaN,          importIsNaN,                      "is_nan"},
    {"LRN",                1, 1, nullptr,                importLRN,                        "mul, convolution, pow, div"},
    {"LayerNormalization", 2, 3, nullptr,                importLayerNormalization,         "layer_norm"},
    {"LeakyRelu",          1, 1, nullptr,                importLeakyRelu,                  "compare, mul, select"},
    {"Less",               2, 2, evaluateLess,           importCompare<Predicate::lt>,     "compare lt"},
    {"LessOrEqual",        2, 2, evaluateLessOrEqual,    importCompare<Predicate::le>,     "compare le"},
    {"Log",                1, 1, evaluateLog,            importUnary<graph::LogOp>,        "log"},
    {"LogSoftmax",         1, 1, nullptr,                importLogSoftmax,                 "reduce, sub, exp, log"},
    {"LpPool",             1, 1, nullptr,                importLpPool,                     "pow, convolution, pow"},
    {"MatMul",             2, 2, nullptr,                importMatMul,                     "contract"},
    {"Max",                1, many, evaluateMax,         importVariadic<graph::MaxOp>,     "max"},
    {"MaxPool",            1, 1, nullptr,                importMaxPool,                    "max_pool"},
    {"Min",                1, many, evaluateMin,         importVariadic<graph::MinOp>,     "min"},
    {"Mod",                2, 2, evaluateMod,            nullptr,                          "known values only"},
    {"Mul",                2, 2, evaluateMul,            importBinary<graph::MulOp>,       "mul"},
    {"Neg",                1, 1, evaluateNeg,            importUnary<graph::NegOp>,        "neg"},
    {"Not",                1, 1, evaluateNot,            importNot,                        "not"},
    {"Or",                 2, 2, evaluateOr,             importBinary<graph::OrOp>,        "or"},
    {"Pad",                2, 4, nullptr,                importPad,                        "slice, pad"},
    {"Pow",                2, 2, evaluatePow,            importPow,                        "mul, sqrt, div or pow"},
    {"Range",              3, 3, evaluateRange,          nullptr,                          "known values only"},
    {"Reciprocal",         1, 1, evaluateReciprocal,     importReciprocal,                 "div"},
    {"ReduceMax",          1, 2, evaluateReduceMax,      importReduce<Reduction::max>,     "reduce max"},
    {"ReduceMean",         1, 2, evaluateReduceMean,     importReduceMean,                 "reduce sum, scale"},
    {"ReduceMin",          1, 2, evaluateReduceMin,      importReduce<Reduction::min>,     "reduce min"},
    {"ReduceProd",         1, 2, evaluateReduceProd,     importReduce<Reduction::prod>,    "reduce prod"},
    {"ReduceSum",          1, 2, evaluateReduceSum,      importReduce<Reduction::sum>,     "reduce sum"},
    {"ReduceSumSquare",    1, 2, nullptr,                importReduceSumSquare,            "mul, reduce sum"},
    {"Relu",               1, 1, nullptr,                importRelu,                       "max"},
    {"Reshape",            2, 2, evaluateReshape,        importReshape,                    "reshape"},
    {"Shape",              1, 1, evaluateShape,          nullptr,                          "known values only"},
    {"Sigmoid",            1, 1, nullptr,                importSigmoid,                    "neg, exp, add, div"},
    {"Sign",               1, 1, evaluateSign,           importUnary<graph::SignOp>,       "sign"},
    {"Sin",                1, 1, evaluateSin,            importUnary<graph::SinOp>,        "sin"},
    {"Size",               1, 1, evaluateSize,           nullptr,                          "known values only"},
    {"Slice",              3, 5, evaluateSlice,          importSlice,                      "slice"},
    {"Softmax",            1, 1, nullptr,                importSoftmax,                    "softmax"},
    {"SoftmaxCrossEntropyLoss", 2, 3, nullptr,           importSoftmaxCrossEntropyLoss,    "cross_entropy"},
    {"Softplus",           1, 1, nullptr,                importSoftplus,                   "abs, exp, log, max, add"},
    {"Split",              1, 2, evaluateSplit,          importSplit,                      "slice"},
    {"Sqrt",               1, 1, evaluateSqrt,           importUnary<graph::SqrtOp>,       "sqrt"},
    {"Squeeze",            1, 2, evaluateSqueeze,        importSqueeze,                    "reshape"},
    {"Sub",                2, 2, evaluateSub,            importBinary<graph::SubOp>,       "sub"},
    {"Sum",                1, many, nullptr,             importVariadic<graph::AddOp>,     "add"},
    {"Tanh",               1, 1, evaluateTanh,           importUnary<graph::TanhOp>,       "tanh"},
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
      << "| " << left_justify("operator", 24) << " | " << left_justify("becomes", 30) << " |\n|---|---|\n";
  for (const Operator &row : table)
    out << "| " << left_justify(row.name, 24) << " | " << left_justify(row.becomes, 30) << " |\n";
}
