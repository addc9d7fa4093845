// Checks the spec's data files against the model's inputs. A file for an unknown input is an error, since its name is
// misspelled; so is an existing file whose rows have other sizes. An input without readers is a warning: if one tensor
// was given as two inputs, exporters read one input and at most the shape of the other. The program then compares the
// files of both (Data.cpp). An input that only another output of the model reads is not marked, since the spec chooses
// the loss.
#include "InputFiles.h"

#include "Failure.h"
#include "Files/Npy.h"
#include "xlc/Dialect/Graph/Signature.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

struct Input {
  BlockArgument argument;
  StringRef name;
  bool isRead;           ///< the loss needs its values
  bool isUnread = false; ///< nothing in the file reads them
};

/// The inputs of @forward that get rows of the data; those of a whole step are not inputs of their own.
SmallVector<Input> findInputs(func::FuncOp forward) {
  SmallVector<Input> inputs;
  for (BlockArgument argument : forward.getArguments())
    if (auto name = graph::Argument(argument).getInput();
        name && !graph::Argument(argument).getWholeOf() && !graph::Argument(argument).isSampleNumber())
      inputs.push_back({argument, name.getValue(), !argument.use_empty()});
  for (BlockArgument argument : forward.getArguments())
    if (auto part = graph::Argument(argument).getWholeOf())
      for (Input &input : inputs)
        input.isRead |= input.name == part.getValue() && !argument.use_empty();
  return inputs;
}

/// Names whose values an output depends on: what is reshaped or converted before it is asked for its shape is not read.
llvm::StringSet<> findReadNames(const Model &model) {
  llvm::StringSet<> read;
  read.insert_range(model.outputs);
  for (const Guard &guard : model.guards)
    read.insert(guard.condition);
  for (const Node &node : llvm::reverse(model.nodes)) {
    bool asksForShape = node.domain.empty() && (node.op == "Shape" || node.op == "Size");
    if (!asksForShape && llvm::any_of(node.outputs, [&](const std::string &name) { return read.contains(name); }))
      read.insert_range(node.inputs);
  }
  return read;
}

/// Whether all names are those of inputs.
bool refuseStrangers(ArrayRef<Input> inputs, const Spec &spec, FileDiagnostics &diagnostics) {
  bool areKnown = true;
  SmallVector<StringRef> names;
  for (const Input &input : inputs)
    names.push_back(input.name);
  auto check = [&](StringRef path, StringRef key, StringRef what, StringRef name) {
    if (llvm::is_contained(names, name))
      return;
    areKnown = false;
    std::optional<StringRef> nearest = findNearest(name, names);
    diagnostics.error(spec, (path + "." + key).str(),
                      path + " has " + what + " for '" + name +
                          "', which is not an input of the model; its inputs are '" + llvm::join(names, "', '") + "'" +
                          (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
  };
  for (const auto &[path, rows] :
       {std::pair("data.train", &spec.data.train), {"data.validation", &spec.data.validation}}) {
    for (const auto &[name, file] : rows->files)
      check(path, name, "a file", name);
    if (!rows->stream)
      continue;
    check(path, "input", "tokens", rows->stream->input);
    if (!rows->stream->labels.empty())
      check(path, "labels", "targets", rows->stream->labels);
    for (const auto &[name, number] : rows->stream->fill)
      check(path, "fill." + name, "a number", name);
  }
  return areKnown;
}

void warnOfUnread(ArrayRef<Input> inputs, FileDiagnostics &diagnostics) {
  for (const Input &input : inputs) {
    if (input.isRead)
      continue;
    const Input *like = llvm::find_if(inputs, [&](const Input &other) {
      return other.isRead && input.isUnread && other.argument.getType() == input.argument.getType();
    });
    std::string name = "'" + input.name.str() + "'";
    if (like != inputs.end())
      diagnostics.warning("no node reads the values of input " + Twine(name) + ". If one tensor was passed as " + name +
                          " and '" + like->name + "' at export, the exported graph reads '" + like->name +
                          "' in both places: export the model with xlc_export, which keeps both inputs. The program "
                          "rejects different files for the two inputs");
    else
      diagnostics.warning((input.isUnread ? "no node reads" : "the loss does not depend on") +
                          Twine(" the values of input ") + name + ": its file is read, but has no effect");
  }
}

std::string describeSizes(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "single numbers" : text;
}

/// The rows that a file has; none where it is not there, or the program will say what is wrong with it.
std::optional<SmallVector<int64_t>> findRow(const std::string &path) {
  try {
    runtime::NpyFile file(path);
    if (file.shape.empty())
      return std::nullopt;
    return SmallVector<int64_t>(file.shape.begin() + 1, file.shape.end());
  } catch (const runtime::Rejected &) {
    return std::nullopt;
  }
}

/// Rows of other sizes than the input's, which the program would refuse when it starts.
void refuseOtherSizes(ArrayRef<Input> inputs, const Spec &spec, FileDiagnostics &diagnostics) {
  for (const Input &input : inputs) {
    const auto &files = spec.data.train.files;
    auto file = files.find(input.name.str());
    std::optional<SmallVector<int64_t>> row = file == files.end() ? std::nullopt : findRow(file->second);
    ArrayRef<int64_t> needed = graph::typeOf(input.argument).getShape().drop_front();
    if (!row || needed == ArrayRef(*row))
      continue;
    bool isLabel = spec.loss.type == LossSpec::Type::CrossEntropy && spec.loss.labels == input.name;
    diagnostics.error(spec, "data.train." + input.name.str(),
                      "the rows of input '" + input.name + "' are " + describeSizes(needed) +
                          ", but those of its file are " + describeSizes(*row) +
                          (isLabel
                               ? "; the last dimension of logits '" + spec.loss.logits +
                                     "' must be the classes: transpose the logits in the model, or compute the loss "
                                     "in the model"
                               : ""));
  }
}

} // namespace

void xlc::onnx::checkInputFiles(const Model &model, const Spec &spec, func::FuncOp forward,
                                FileDiagnostics &diagnostics) {
  SmallVector<Input> inputs = findInputs(forward);
  llvm::StringSet<> read = findReadNames(model);
  for (Input &input : inputs) {
    input.isUnread = !input.isRead && !read.contains(input.name);
    if (input.isUnread)
      forward.setArgAttr(input.argument.getArgNumber(), graph::kUnread, UnitAttr::get(forward.getContext()));
  }
  bool areKnown = refuseStrangers(inputs, spec, diagnostics);
  refuseOtherSizes(inputs, spec, diagnostics);
  for (const Input &input : inputs)
    if (areKnown)
      checkStreamInput(input.argument, spec, diagnostics);
  checkStreamLengths(forward, spec, diagnostics);
  warnOfUnread(inputs, diagnostics);
}
