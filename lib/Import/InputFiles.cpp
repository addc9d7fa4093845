// The spec's data files against the model's inputs. A file for an unknown input is an error: its name is misspelled. An
// input without readers is a warning: of one tensor that was given as two inputs, exporters read one input and take at
// most the shape of the other. The program then compares the files of both (Data.cpp). An input that only another output
// of the model reads is not marked, since the spec chooses the loss.
#include "InputFiles.h"
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

/// The inputs of @forward; rows of a whole step are not inputs of their own.
SmallVector<Input> findInputs(func::FuncOp forward) {
  SmallVector<Input> inputs;
  for (BlockArgument argument : forward.getArguments())
    if (auto name = graph::Argument(argument).getInput(); name && !graph::Argument(argument).getWholeOf())
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

void refuseStrangers(ArrayRef<Input> inputs, const Spec &spec, FileDiagnostics &diagnostics) {
  SmallVector<StringRef> names;
  for (const Input &input : inputs)
    names.push_back(input.name);
  for (const auto &[name, path] : spec.data.train) {
    if (llvm::is_contained(names, name))
      continue;
    std::optional<StringRef> nearest = findNearest(name, names);
    diagnostics.error(spec, "data.train." + name,
                      "data.train has a file for '" + name + "', which is no input of the model; its inputs are '" +
                          llvm::join(names, "', '") + "'" +
                          (nearest ? "; did you mean '" + nearest->str() + "'?" : ""));
  }
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
      diagnostics.warning("nothing reads the values of input " + Twine(name) + ". Was one tensor given as " + name +
                          " and '" + like->name + "' when the model was exported? Then it computes with '" +
                          like->name +
                          "' in both places: export it with xlc_export, which keeps inputs apart. The program refuses "
                          "files of the two that differ");
    else
      diagnostics.warning((input.isUnread ? "nothing reads" : "the loss does not depend on") +
                          Twine(" the values of input ") + name + ": its file is read, and changes nothing");
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
  refuseStrangers(inputs, spec, diagnostics);
  warnOfUnread(inputs, diagnostics);
}
