// Reads the metadata that a file stores for a node beside ONNX's own fields. PyTorch's exporter records the call that
// the node came from, and the lines of Python around it; `xlc.padding_idx` and `xlc.stop_gradient` are keys of our own
// (docs/Limits.md). ONNX has no gradients, so nothing else in a file states which of them PyTorch does not compute.
//
// The exporter's text is made for reading by people. It is parsed only as far as needed, and text of an unexpected form
// is ignored.
#include "NodeMetadata.h"

#include "onnx.pb.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr size_t maximumText = 1 << 16;

/// The pieces of `text` between commas that stand in no brackets, without blanks around them; `rest` begins at the
/// bracket that closes `text`.
std::vector<std::string> splitList(StringRef text, StringRef &rest) {
  std::vector<std::string> pieces;
  int depth = 0;
  size_t begin = 0, at = 0;
  auto finish = [&] {
    if (StringRef piece = text.slice(begin, at).trim(); !piece.empty())
      pieces.push_back(piece.str());
    begin = at + 1;
  };
  for (; at < text.size(); ++at) {
    if (StringRef("([{").contains(text[at]))
      ++depth;
    else if (StringRef(")]}").contains(text[at]) && depth-- == 0)
      break;
    else if (text[at] == ',' && depth == 0)
      finish();
  }
  finish();
  rest = text.drop_front(std::min(at, text.size()));
  return pieces;
}

/// `%NAME : ... = call_function[target=TARGET](args = (A, B), kwargs = {K: V})`; no name where it has another form.
TracedCall readCall(StringRef text) {
  TracedCall call;
  text = text.take_front(maximumText);
  if (!text.consume_front("%"))
    return call;
  StringRef name = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
  auto [head, arguments] = text.split("](args = (");
  StringRef target = head.split("call_function[target=").second;
  if (target.empty() || arguments.empty())
    return call;
  target.consume_front("torch.ops.");
  call.name = name.str();
  call.target = target.str();
  StringRef rest;
  call.arguments = splitList(arguments, rest);
  StringRef keywords = rest.split("kwargs = {").second;
  for (const std::string &entry : splitList(keywords, rest)) {
    auto [key, value] = StringRef(entry).split(':');
    call.keywords.emplace_back(key.trim().str(), value.trim().str());
  }
  return call;
}

/// Pairs of lines: `File "model.py", line 9, in forward` and the line itself. What stood in a block that PyTorch made
/// a graph of its own has no line in a file.
void readLines(StringRef text, TracedCall &call) {
  SmallVector<StringRef> lines;
  text.take_front(maximumText).split(lines, '\n');
  call.isInRegion = !lines.empty();
  for (StringRef line : lines)
    if (StringRef place = line.ltrim(); place.consume_front("File \""))
      call.isInRegion &= place.starts_with("<eval_with_key>");
    else
      call.namesDetach |= line.contains("detach");
}

} // namespace

StringRef TracedCall::find(size_t position, StringRef keyword) const {
  for (const auto &[key, value] : keywords)
    if (key == keyword)
      return value;
  return position < arguments.size() ? StringRef(arguments[position]) : StringRef();
}

std::vector<std::string> TracedCall::values() const {
  std::vector<std::string> values;
  auto add = [&](StringRef text) {
    for (text = text.split('%').second; !text.empty(); text = text.split('%').second)
      values.push_back(text.take_while([](char c) { return isAlnum(c) || c == '_'; }).str());
  };
  for (const std::string &text : arguments)
    add(text);
  for (const auto &[key, text] : keywords)
    add(text);
  return values;
}

void xlc::onnx::readMetadata(const ::onnx::NodeProto &proto, Node &node, FileDiagnostics &diagnostics) {
  StringRef lines;
  for (const auto &entry : proto.metadata_props()) {
    StringRef key = entry.key(), value = entry.value();
    int64_t number = 0;
    if (key == "pkg.torch.onnx.fx_node")
      node.call = readCall(value);
    else if (key == "pkg.torch.onnx.stack_trace")
      lines = value;
    else if (key == "xlc.stop_gradient" && node.op == "Identity" && value == "1")
      node.stopsGradient = true;
    else if (key == "xlc.padding_idx" && node.op == "Gather" && !value.getAsInteger(10, number))
      node.paddingIndex = number;
    else if (key == "xlc.buffer" && node.op == "Identity" && checkName(value).empty())
      node.nextOf = value.str();
    else if (key == "xlc.stop_gradient" || key == "xlc.padding_idx" || key == "xlc.buffer")
      diagnostics.error(node.describe() + " has the metadata " + key + " = '" + value.take_front(64) +
                        "'; supported are xlc.stop_gradient = 1 on an Identity, xlc.padding_idx = ROW on a Gather and "
                        "xlc.buffer = NAME on an Identity");
  }
  if (!node.call.name.empty() && !lines.empty())
    readLines(lines, node.call);
}
