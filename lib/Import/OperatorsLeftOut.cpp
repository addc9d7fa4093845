// The operators of ONNX that xlc does not import, and the reasons: the other half of the table in Operators.cpp. Each
// operator of ai.onnx up to opset 21 is in one of the two.
#include "Importer.h"

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

namespace {
constexpr StringLiteral quantised = "integer inference; a quantised model is not trained";
constexpr StringLiteral random = "draws random numbers that would have to be equal on all ranks";
constexpr StringLiteral recurrent = "a recurrent network, whose steps xlc does not unroll; a loop over nn.LSTMCell, "
                                    "nn.GRUCell or nn.RNNCell is supported";
constexpr StringLiteral loop = "a loop whose length may depend on the data; exporters unroll loops of fixed length";
constexpr StringLiteral optional = "optional values; PyTorch's exporters do not write them for training";
constexpr StringLiteral detection = "object detection: the regions that are read depend on the data";
constexpr StringLiteral sound = "audio processing, done before training";
constexpr StringLiteral text = "text processing, done before training";
constexpr StringLiteral dataShape = "the shape of the result depends on the data";
constexpr StringLiteral sampling = "samples images at computed coordinates; not used by the supported families";

struct Row {
  StringLiteral name, reason;
};
constexpr Row leftOut[] = {
    {"AffineGrid", "computes the coordinates for GridSample; not used by the supported families"},
    {"BitShift", "shifts unsigned integers, whose types are not supported"},
    {"BlackmanWindow", sound},
    {"CenterCropPad", "not written by PyTorch's exporters, which use Slice and Pad"},
    {"Col2Im", "sums overlapping image patches (fold); not used by the supported families"},
    {"ConvInteger", quantised},
    {"DFT", sound},
    {"DeformConv", sampling},
    {"DequantizeLinear", quantised},
    {"Det", "the determinant of a matrix; not used by the supported families"},
    {"DynamicQuantizeLinear", quantised},
    {"GRU", recurrent},
    {"GridSample", sampling},
    {"HammingWindow", sound},
    {"HannWindow", sound},
    {"ImageDecoder", "decodes image files; done before training"},
    {"LSTM", recurrent},
    {"Loop", loop},
    {"MatMulInteger", quantised},
    {"MaxRoiPool", detection},
    {"MaxUnpool", "scatters values to the indices of a MaxPool; not used by the supported families"},
    {"MelWeightMatrix", sound},
    {"Multinomial", random},
    {"NonMaxSuppression", "object detection: the shape of the result depends on the data"},
    {"Optional", optional},
    {"OptionalGetElement", optional},
    {"OptionalHasElement", optional},
    {"QLinearConv", quantised},
    {"QLinearMatMul", quantised},
    {"QuantizeLinear", quantised},
    {"RNN", recurrent},
    {"RegexFullMatch", text},
    {"ReverseSequence", "reverses rows of different lengths, for recurrent networks"},
    {"RoiAlign", detection},
    {"STFT", sound},
    {"Scan", loop},
    {"Scatter", "deprecated since opset 11 in favor of ScatterElements"},
    {"StringConcat", text},
    {"StringNormalizer", text},
    {"StringSplit", text},
    {"TfIdfVectorizer", text},
    {"Unique", dataShape},
    {"Upsample", "deprecated since opset 10 in favor of Resize"},
};
} // namespace

StringRef xlc::onnx::findReasonLeftOut(StringRef name) {
  const Row *row = llvm::lower_bound(leftOut, name, [](const Row &row, StringRef name) { return row.name < name; });
  return row != std::end(leftOut) && row->name == name ? StringRef(row->reason) : "";
}

void xlc::onnx::forEachLeftOut(llvm::function_ref<void(StringRef, StringRef)> visit) {
  for (const Row &row : leftOut)
    visit(row.name, row.reason);
}
