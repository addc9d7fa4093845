// Reads an ONNX file and checks what it says, so that nothing behind this file has to.
//
// Exporters are trusted as little as strangers: a corrupt file ends in diagnostics, never in a
// crash. All complaints of a file are collected. What is checked: protobuf syntax, opset, unique
// names, definition before use (hence no cycles), tensors (ReadTensor.cpp), attribute types.
#include "ReadTensor.h"

#include "onnx.pb.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

constexpr int64_t oldestOpset = 13, newestOpset = 21;

/// What the attributes that xlc reads must be; ONNX uses each name for one kind only.
struct AttributeKind {
  StringLiteral name;
  ::xlc::onnx::Attribute::Kind kind;
};
using Kind = ::xlc::onnx::Attribute::Kind;
constexpr AttributeKind attributeKinds[] = {
    {"allowzero", Kind::Int},
    {"alpha", Kind::Float},
    {"antialias", Kind::Int},
    {"approximate", Kind::String},
    {"axes", Kind::Ints},
    {"axis", Kind::Int},
    {"batch_dims", Kind::Int},
    {"beta", Kind::Float},
    {"bias", Kind::Float},
    {"blocksize", Kind::Int},
    {"coordinate_transformation_mode", Kind::String},
    {"cubic_coeff_a", Kind::Float},
    {"detect_negative", Kind::Int},
    {"detect_positive", Kind::Int},
    {"dtype", Kind::Int},
    {"end", Kind::Int},
    {"epsilon", Kind::Float},
    {"equation", Kind::String},
    {"exclude_outside", Kind::Int},
    {"exclusive", Kind::Int},
    {"fmod", Kind::Int},
    {"gamma", Kind::Float},
    {"ignore_index", Kind::Int},
    {"k", Kind::Int},
    {"keep_aspect_ratio_policy", Kind::String},
    {"keepdims", Kind::Int},
    {"lambd", Kind::Float},
    {"largest", Kind::Int},
    {"mode", Kind::String},
    {"nearest_mode", Kind::String},
    {"noop_with_empty_axes", Kind::Int},
    {"num_outputs", Kind::Int},
    {"p", Kind::Int},
    {"perm", Kind::Ints},
    {"reduction", Kind::String},
    {"reverse", Kind::Int},
    {"select_last_index", Kind::Int},
    {"sorted", Kind::Int},
    {"split", Kind::Ints},
    {"start", Kind::Int},
    {"to", Kind::Int},
    {"transA", Kind::Int},
    {"transB", Kind::Int},
    {"upper", Kind::Int},
    {"value", Kind::Tensor},
    {"value_float", Kind::Float},
    {"value_floats", Kind::Floats},
    {"value_int", Kind::Int},
    {"value_ints", Kind::Ints},
};
/// In the order of Attribute::Kind.
constexpr StringLiteral kindNames[] = {"an integer", "a float", "a string", "a tensor",
                                       "integers",   "floats",  "strings"};

class Reader {
public:
  Reader(StringRef path, ::onnx::ModelProto &proto, Diagnostics &diagnostics) : proto(proto), diagnostics(diagnostics) {
    model.path = path.str();
  }

  std::optional<Model> read() {
    readOpset();
    if (!proto.has_graph())
      diagnostics.error("the file has no graph");
    if (diagnostics.hasErrors())
      return std::nullopt;
    ::onnx::GraphProto &graph = *proto.mutable_graph();
    if (graph.sparse_initializer_size())
      diagnostics.error("sparse initializers are not supported");
    for (const auto &entry : graph.metadata_props())
      if (entry.key() == "pkg.torch.export.ExportedProgram.graph_signature")
        readSignature(entry.value());
    for (int i = 0; i < graph.initializer_size(); ++i)
      readInitializer(*graph.mutable_initializer(i), i);
    for (const auto &input : graph.input())
      readInput(input);
    collectLaterNames(graph);
    for (int i = 0; i < graph.node_size(); ++i)
      readNode(*graph.mutable_node(i), i);
    for (const auto &output : graph.output())
      readOutput(output.name());
    if (graph.output_size() == 0)
      diagnostics.error("the graph has no output");
    return diagnostics.hasErrors() ? std::nullopt : std::optional<Model>(std::move(model));
  }

private:
  void readOpset() {
    bool hasOpset = false;
    for (const auto &entry : proto.opset_import()) {
      if (!entry.domain().empty() && entry.domain() != "ai.onnx")
        continue;
      hasOpset = true;
      model.opset = entry.version();
      if (model.opset < oldestOpset || model.opset > newestOpset)
        diagnostics.error("the model uses opset " + Twine(model.opset) + "; xlc reads opsets " + Twine(oldestOpset) +
                          " to " + Twine(newestOpset));
    }
    if (!hasOpset)
      diagnostics.error("the model does not say which opset it uses; is it an ONNX file?");
  }

  /// Lines such as `p_h_0_weight: PARAMETER target='h.0.weight'`.
  void readSignature(StringRef text) {
    SmallVector<StringRef> lines;
    text.split(lines, '\n');
    for (StringRef line : lines) {
      StringRef rest = line.split(": ").second;
      StringRef name = rest.split("target='").second.split('\'').first;
      if (name.empty())
        continue;
      if (rest.starts_with("PARAMETER"))
        model.signature.parameters.push_back(name.str());
      else if (rest.starts_with("BUFFER"))
        model.signature.buffers.push_back(name.str());
    }
  }

  /// Notes that `name` is now defined.
  bool define(const std::string &name, const Twine &by) {
    if (defined.insert(name).second)
      return true;
    diagnostics.error("'" + Twine(name) + "' is defined twice, again by " + by);
    return false;
  }

  void readInitializer(::onnx::TensorProto &tensor, int index) {
    std::string what =
        tensor.name().empty() ? "initializer " + std::to_string(index) : "initializer '" + tensor.name() + "'";
    FileTensor result;
    if (tensor.name().empty())
      return diagnostics.error(what + " has no name");
    if (define(tensor.name(), "an initializer") && readTensor(tensor, what, model.path, result, diagnostics))
      model.initializers.push_back(std::move(result));
  }

  void readInput(const ::onnx::ValueInfoProto &input) {
    if (defined.contains(input.name()))
      return; // an initializer's default, listed among the inputs by old exporters
    define(input.name(), "a model input");
    ModelInput result;
    result.name = input.name();
    const auto &type = input.type().tensor_type();
    if (!byteWidth(type.elem_type()) || !type.has_shape())
      return diagnostics.error("input '" + input.name() + "' needs a tensor type with a shape, element type is " +
                               Twine(type.elem_type()));
    result.type = static_cast<ElementType>(type.elem_type());
    for (const auto &dimension : type.shape().dim()) {
      Dimension &to = result.shape.emplace_back();
      to.name = dimension.dim_param();
      if (dimension.has_dim_value() && dimension.dim_value() <= 0)
        diagnostics.error("input '" + input.name() + "' has a dimension of size " + Twine(dimension.dim_value()));
      else if (dimension.has_dim_value())
        to.size = dimension.dim_value();
    }
    model.inputs.push_back(std::move(result));
  }

  void collectLaterNames(const ::onnx::GraphProto &graph) {
    for (const auto &node : graph.node())
      for (const auto &output : node.output())
        later.insert(output);
  }

  void readNode(::onnx::NodeProto &from, int index) {
    Node node;
    node.op = from.op_type();
    node.domain = from.domain() == "ai.onnx" ? "" : from.domain();
    node.name = from.name();
    if (node.name.empty())
      node.name = from.output_size() && !from.output(0).empty() ? from.output(0) : "node " + std::to_string(index);
    for (const auto &entry : from.metadata_props())
      if (entry.key() == "pkg.torch.onnx.name_scopes")
        node.scope = readScope(entry.value());
    node.inputs.assign(from.input().begin(), from.input().end());
    node.outputs.assign(from.output().begin(), from.output().end());
    for (const std::string &input : node.inputs)
      checkIsDefined(input, node);
    for (const std::string &output : node.outputs)
      if (!output.empty())
        define(output, node.describe());
    for (auto &attribute : *from.mutable_attribute())
      readAttribute(attribute, node);
    model.nodes.push_back(std::move(node));
  }

  /// The innermost module in "['', 'h.0', 'h.0.attn', 'transpose_3']"; the last entry is the op itself.
  static std::string readScope(StringRef text) {
    SmallVector<StringRef> parts;
    text.split(parts, '\'');
    // 0: "[", 1: first entry, 2: ", ", 3: second entry ...
    return parts.size() >= 5 ? parts[parts.size() - 4].str() : "";
  }

  void checkIsDefined(const std::string &name, const Node &node) {
    if (name.empty() || defined.contains(name))
      return;
    if (later.contains(name))
      diagnostics.error(node.describe() + " uses '" + name +
                        "' before it is made: nodes must be in topological order, without cycles");
    else
      diagnostics.error(node.describe() + " uses '" + name + "', which nothing defines");
  }

  void readOutput(const std::string &name) {
    if (!defined.contains(name))
      diagnostics.error("output '" + name + "' is defined by nothing");
    model.outputs.push_back(name);
  }

  void readAttribute(::onnx::AttributeProto &from, Node &node) {
    using Proto = ::onnx::AttributeProto;
    Attribute to;
    std::string what = "attribute '" + from.name() + "' of " + node.describe();
    switch (from.type()) {
    case Proto::INT:
      to.kind = Attribute::Kind::Int, to.i = from.i();
      break;
    case Proto::FLOAT:
      to.kind = Attribute::Kind::Float, to.f = from.f();
      break;
    case Proto::STRING:
      to.kind = Attribute::Kind::String, to.s = from.s();
      break;
    case Proto::INTS:
      to.kind = Attribute::Kind::Ints, to.ints.assign(from.ints().begin(), from.ints().end());
      break;
    case Proto::FLOATS:
      to.kind = Attribute::Kind::Floats, to.floats.assign(from.floats().begin(), from.floats().end());
      break;
    case Proto::STRINGS:
      to.kind = Attribute::Kind::Strings;
      break;
    case Proto::TENSOR:
      to.kind = Attribute::Kind::Tensor, to.tensor = std::make_shared<FileTensor>();
      if (!readTensor(*from.mutable_t(), what, model.path, *to.tensor, diagnostics))
        return;
      break;
    default:
      return; // graphs and the like belong to operators that the table does not have
    }
    for (const AttributeKind &row : attributeKinds)
      if (row.name == from.name() && row.kind != to.kind)
        return diagnostics.error(what + " must be " + kindNames[(int)row.kind] + ", is " + kindNames[(int)to.kind]);
    if (!node.attributes.try_emplace(from.name(), std::move(to)).second)
      diagnostics.error(what + " is given twice");
  }

  ::onnx::ModelProto &proto;
  Diagnostics &diagnostics;
  Model model;
  StringSet<> defined, later;
};

} // namespace

std::optional<Model> xlc::onnx::readModel(StringRef path, Diagnostics &diagnostics) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) {
    diagnostics.error("cannot read the model: " + buffer.getError().message());
    return std::nullopt;
  }
  ::onnx::ModelProto proto;
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() > INT32_MAX || !proto.ParseFromArray(bytes.data(), (int)bytes.size())) {
    diagnostics.error("this is not an ONNX file, or it is damaged: " + Twine(bytes.size()) +
                      " bytes do not parse as a model");
    return std::nullopt;
  }
  return Reader(path, proto, diagnostics).read();
}
