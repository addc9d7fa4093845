// Operators of ONNX that xlc does not import, and why: the other half of the table in Operators.cpp. Each operator of
// ai.onnx up to opset 21 stands in one of the two.
#include "Importer.h"

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

namespace {
constexpr StringLiteral quantised = "integer inference; a quantised model is not trained";
constexpr StringLiteral random = "draws random numbers, of which the ranks of a program would have to agree";
constexpr StringLiteral recurrent = "a recurrent network, whose steps are unrolled by no rule here";
constexpr StringLiteral loop = "a loop whose length the data may decide; exporters unroll what is fixed";
constexpr StringLiteral optional = "values that may be absent; no exporter of PyTorch writes them for training";
constexpr StringLiteral detection = "detection of objects: results whose shape or place depends on the data";
constexpr StringLiteral sound = "processing of sound, done before training";
constexpr StringLiteral text = "processing of text, done before training";
constexpr StringLiteral dataShape = "the shape of its result depends on the data";
constexpr StringLiteral sampling = "samples images at computed places; no model of the supported families needs it";

struct Row {
  StringLiteral name, reason;
};
constexpr Row table[] = {
    {"AffineGrid", sampling},
    {"BitShift", "shifts unsigned integers, which tensors of a model cannot have"},
    {"BlackmanWindow", sound},
    {"CenterCropPad", "written by no exporter of PyTorch; Slice and Pad say the same"},
    {"Col2Im", sampling},
    {"ConvInteger", quantised},
    {"DFT", sound},
    {"DeformConv", sampling},
    {"DequantizeLinear", quantised},
    {"Det", "the determinant of a matrix; no model of the supported families needs it"},
    {"DynamicQuantizeLinear", quantised},
    {"GRU", recurrent},
    {"GridSample", sampling},
    {"HammingWindow", sound},
    {"HannWindow", sound},
    {"ImageDecoder", "reads image files, done before training"},
    {"LSTM", recurrent},
    {"Loop", loop},
    {"MatMulInteger", quantised},
    {"MaxRoiPool", detection},
    {"MaxUnpool", sampling},
    {"MelWeightMatrix", sound},
    {"Multinomial", random},
    {"NonMaxSuppression", detection},
    {"Optional", optional},
    {"OptionalGetElement", optional},
    {"OptionalHasElement", optional},
    {"QLinearConv", quantised},
    {"QLinearMatMul", quantised},
    {"QuantizeLinear", quantised},
    {"RNN", recurrent},
    {"RegexFullMatch", text},
    {"ReverseSequence", "turns rows of different lengths, for recurrent networks"},
    {"RoiAlign", detection},
    {"STFT", sound},
    {"Scan", loop},
    {"Scatter", "deprecated since opset 11, by ScatterElements"},
    {"StringConcat", text},
    {"StringNormalizer", text},
    {"StringSplit", text},
    {"TfIdfVectorizer", text},
    {"Unique", dataShape},
    {"Upsample", "deprecated since opset 10, by Resize"},
};
} // namespace

StringRef xlc::onnx::findReasonLeftOut(StringRef name) {
  const Row *row = llvm::lower_bound(table, name, [](const Row &row, StringRef name) { return row.name < name; });
  return row != std::end(table) && row->name == name ? StringRef(row->reason) : "";
}

void xlc::onnx::forEachLeftOut(llvm::function_ref<void(StringRef, StringRef)> visit) {
  for (const Row &row : table)
    visit(row.name, row.reason);
}
