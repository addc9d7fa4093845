// Checks the inputs of a token stream: rows of tokens are integers in one dimension, all as long as those of the input,
// and each input has a source of rows.
#include "InputFiles.h"

#include "xlc/Dialect/Graph/Signature.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

struct Source {
  StringRef path; ///< its key: data.train
  const RowsSpec &rows;
  const TokenStreamSpec &stream;
};

class StreamInput {
public:
  StreamInput(BlockArgument given, const Spec &spec, FileDiagnostics &diagnostics)
      : argument(given), type(graph::typeOf(given)), name(argument.getInput().getValue()), spec(spec),
        diagnostics(diagnostics) {}

  void check(const Source &source) {
    bool isInput = name == source.stream.input, isLabels = name == source.stream.labels;
    auto filled = source.stream.fill.find(name.str());
    if (isInput || isLabels)
      checkTokens((source.path + (isInput ? ".input" : ".labels")).str());
    else if (filled != source.stream.fill.end())
      checkFill(filled->second, (source.path + ".fill." + name).str());
    else if (!source.rows.files.count(name.str()))
      diagnostics.error(spec, source.path.str(),
                        "input '" + name + "' has no data: set a number in " + source.path + ".fill (" + name +
                            ": 1) or a file (" + name + ": FILE.npy)");
  }

private:
  bool isInteger() const { return type.getElementType().isInteger(32) || type.getElementType().isInteger(64); }

  void checkTokens(const std::string &key) {
    if (isInteger() && type.getRank() == 2)
      return;
    std::string text;
    llvm::raw_string_ostream(text) << type;
    diagnostics.error(spec, key,
                      "input '" + name + "' is " + text +
                          ", but tokens require integers in two dimensions, rows and positions");
  }

  void checkFill(double number, const std::string &key) {
    if (isa<FloatType>(type.getElementType()))
      return;
    bool isBoolean = type.getElementType().isInteger(1), isWhole = number == std::trunc(number);
    std::optional<int64_t> limit = argument.getLimit(), ignored = argument.getIgnored();
    bool isIgnored = ignored && number == double(*ignored);
    double bound = isBoolean ? 2 : limit ? double(*limit) : 0x1p31;
    if (isIgnored || (isWhole && number < bound && number >= (isBoolean || limit ? 0 : -0x1p31)))
      return;
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", number);
    diagnostics.error(spec, key,
                      "input '" + name + "' takes integers" +
                          (isBoolean || limit ? " >= 0 and < " + std::to_string(int64_t(bound)) : " of 32 bits") +
                          ", but is filled with " + text);
  }

  graph::Argument argument;
  RankedTensorType type;
  StringRef name;
  const Spec &spec;
  FileDiagnostics &diagnostics;
};

} // namespace

void xlc::onnx::checkStreamInput(BlockArgument argument, const Spec &spec, FileDiagnostics &diagnostics) {
  StreamInput input(argument, spec, diagnostics);
  for (const auto &[path, rows] :
       {std::pair("data.train", &spec.data.train), {"data.validation", &spec.data.validation}})
    if (rows->stream)
      input.check({path, *rows, *rows->stream});
}

void xlc::onnx::checkStreamLengths(func::FuncOp forward, const Spec &spec, FileDiagnostics &diagnostics) {
  auto find = [&](StringRef name) {
    auto *found = llvm::find_if(forward.getArguments(), [&](BlockArgument argument) {
      StringAttr input = graph::Argument(argument).getInput();
      return input && input.getValue() == name;
    });
    return found == forward.getArguments().end() ? RankedTensorType() : graph::typeOf(*found);
  };
  for (const auto &[path, rows] :
       {std::pair("data.train", &spec.data.train), {"data.validation", &spec.data.validation}}) {
    if (!rows->stream || rows->stream->labels.empty())
      continue;
    RankedTensorType input = find(rows->stream->input), labels = find(rows->stream->labels);
    if (!input || !labels || input.getRank() != 2 || labels.getRank() != 2 || input.getShape() == labels.getShape())
      continue;
    diagnostics.error(spec, std::string(path) + ".labels",
                      "rows of labels '" + rows->stream->labels + "' have " + std::to_string(labels.getDimSize(1)) +
                          " positions, but those of the token input have " + std::to_string(input.getDimSize(1)));
  }
}
