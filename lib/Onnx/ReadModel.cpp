// Reads an ONNX file and validates it, so that no later code has to.
//
// Files are not trusted: a corrupt file results in diagnostics, never in a crash. All errors of a file are collected.
// The checks cover protobuf syntax, opset, unique names that are text, definition before use (hence no cycles;
// ReadNodes.cpp), tensors (ReadTensor.cpp) and attribute types. docs/Limits.md states the limits.
#include "ReadNodes.h"
#include "ReadRecord.h"
#include "ReadTensor.h"

#include "Files/Messages.h"
#include "onnx.pb.h"
#include "xlc/Spec/SpecPlace.h"
#include "xlc/Support/InputFile.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace xlc::onnx;

namespace {

/// More is no protobuf; weights beyond it lie in files of their own.
constexpr int64_t maximumFile = std::numeric_limits<int32_t>::max();

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
    {"new_axis", Kind::Int},
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
    {"value_string", Kind::String},
    {"value_strings", Kind::Strings},
};
/// Versions of the file format; the operators have versions of their own.
constexpr int64_t oldestVersion = 3, newestVersion = 14;

/// In the order of Attribute::Kind.
constexpr StringLiteral kindNames[] = {"an integer", "a float", "a string", "a tensor",
                                       "integers",   "floats",  "strings"};

class Reader {
public:
  Reader(StringRef path, ::onnx::ModelProto &proto, FileDiagnostics &diagnostics)
      : proto(proto), diagnostics(diagnostics), nodes(model, proto, diagnostics) {
    model.path = path.str();
  }

  std::optional<Model> read() {
    std::optional<int64_t> opset = readOpset();
    if (!proto.has_graph())
      diagnostics.error("the file has no graph");
    if (!opset || !proto.has_graph())
      return std::nullopt;
    if (proto.has_ir_version() && (proto.ir_version() < oldestVersion || proto.ir_version() > newestVersion))
      diagnostics.error("the file has IR version " + Twine(proto.ir_version()) + ", but xlc reads versions " +
                        Twine(oldestVersion) + " to " + Twine(newestVersion));
    if (proto.training_info_size())
      diagnostics.error("training_info is not supported; the spec configures training");
    ::onnx::GraphProto &graph = *proto.mutable_graph();
    if (graph.sparse_initializer_size())
      diagnostics.error("sparse initializers are not supported");
    for (const auto &entry : graph.metadata_props())
      if (entry.key() == "pkg.torch.export.ExportedProgram.graph_signature")
        readSignature(entry.value());
    for (const auto &entry : proto.metadata_props())
      if (entry.key() == ExportRecord::key)
        readRecord(entry.value());
    for (int i = 0; i < graph.initializer_size(); ++i)
      nodes.readInitializer(nodes.graphScope(), *graph.mutable_initializer(i), i);
    for (const FileTensor &tensor : model.initializers)
      defaults.insert(tensor.name);
    for (const auto &input : graph.input())
      if (!defaults.contains(input.name())) // old exporters list initializers among the inputs
        readInput(input);
    nodes.readGraph(graph, *opset);
    for (const auto &output : graph.output())
      readOutput(output);
    if (graph.output_size() == 0)
      diagnostics.error("the graph has no output");
    return diagnostics.hasErrors() ? std::nullopt : std::optional<Model>(std::move(model));
  }

private:
  /// None after a complaint.
  std::optional<int64_t> readOpset() {
    std::optional<int64_t> opset;
    for (const auto &entry : proto.opset_import())
      if (entry.domain().empty() || entry.domain() == "ai.onnx") {
        if (opset)
          diagnostics.error("the model imports two opset versions, " + Twine(*opset) + " and " +
                            Twine(entry.version()));
        opset = entry.version();
      }
    if (!opset)
      diagnostics.error("the model has no opset; is it an ONNX file?");
    else if (!checkOpset(*opset, "the model", diagnostics))
      return std::nullopt;
    return opset;
  }

  /// Lines such as `p_h_0_weight: PARAMETER target='h.0.weight'` and `input_ids: USER_INPUT`.
  void readSignature(StringRef text) {
    SmallVector<StringRef> lines;
    text.split(lines, '\n');
    for (StringRef line : lines) {
      auto [traced, rest] = line.split(": ");
      if (rest == "USER_INPUT")
        model.signature.inputs.push_back(traced.str());
      StringRef name = rest.split("target='").second.split('\'').first;
      if (name.empty())
        continue;
      if (std::string problem = checkName(name); !problem.empty())
        diagnostics.error("the name '" + name.take_front(64) + "' in the exporter's signature " + problem);
      else if (rest.starts_with("PARAMETER"))
        model.signature.parameters.push_back(name.str());
      else if (rest.starts_with("BUFFER_MUTATION")) {
        model.signature.changed.push_back(name.str());
        continue; // which names the next value, and not the buffer
      } else if (rest.starts_with("BUFFER"))
        model.signature.buffers.push_back(name.str());
      model.signature.targets[traced] = name.str();
    }
  }

  void readRecord(StringRef text) {
    model.record = readExportRecord(text, diagnostics);
    if (!model.record)
      return;
    model.signature = {};
    for (const ExportRecord::Tensor &tensor : model.record->parameters)
      model.signature.parameters.push_back(tensor.name);
    for (const ExportRecord::Tensor &tensor : model.record->buffers)
      model.signature.buffers.push_back(tensor.name);
  }

  void readInput(const ::onnx::ValueInfoProto &input) {
    if (input.name().empty())
      return diagnostics.error("an input has no name");
    if (!nodes.define(input.name(), "a model input"))
      return;
    ModelInput result;
    result.name = input.name();
    const auto &type = input.type().tensor_type();
    bool isNarrow = isHalf(type.elem_type()); // NarrowTypes.cpp
    if (!byteWidth(type.elem_type()) && !isNarrow)
      return diagnostics.error("input '" + input.name() + "' has element type " + nameOfType(type.elem_type()) +
                               ", which is not supported");
    if (!type.has_shape())
      return diagnostics.error("input '" + input.name() + "' has no shape");
    if (type.shape().dim_size() > maximumRank)
      return diagnostics.error("input '" + input.name() + "' has " + Twine(type.shape().dim_size()) +
                               " dimensions, but at most " + Twine(maximumRank) + " are supported");
    result.storedType = type.elem_type();
    result.type = isNarrow ? ElementType::Float : static_cast<ElementType>(type.elem_type());
    for (const auto &dimension : type.shape().dim()) {
      Dimension &to = result.shape.emplace_back();
      to.name = dimension.dim_param();
      if (std::string problem = checkName(to.name); !problem.empty())
        diagnostics.error("the name of a dimension of input '" + input.name() + "' " + problem);
      if (dimension.has_dim_value() && dimension.dim_value() <= 0)
        diagnostics.error("input '" + input.name() + "' has a dimension of size " + Twine(dimension.dim_value()) +
                          ", must be at least 1");
      else if (dimension.has_dim_value())
        to.size = dimension.dim_value();
    }
    model.inputs.push_back(std::move(result));
  }

  void readOutput(const ::onnx::ValueInfoProto &output) {
    const std::string &name = output.name();
    if (!nodes.isDefined(name))
      diagnostics.error("output '" + name + "' is not defined");
    if (!output.has_type())
      diagnostics.error("output '" + name + "' has no type");
    const auto &type = output.type().tensor_type();
    model.outputs.push_back(name);
    model.outputTypes.push_back({type.elem_type(), type.has_shape() ? type.shape().dim_size() : -1});
  }

  ::onnx::ModelProto &proto;
  FileDiagnostics &diagnostics;
  Model model;
  NodeReader nodes;
  StringSet<> defaults;
};

} // namespace

void FileDiagnostics::error(const Spec &spec, StringRef key, const Twine &text) {
  report(Severity::Error, findPlace(spec, key).value_or(path), text);
}

void FileDiagnostics::report(Severity severity, StringRef where, const Twine &text) {
  Message message{.severity = severity, .where = where.str()};
  for (char c : xlc::runtime::limitText(text.str()))
    c == '\n' ? message.text += "\\x0a" : message.text += c; // one line, whatever a name of the file has
  diagnostics.report(message);
}

void xlc::onnx::readAttribute(::onnx::AttributeProto &from, StringRef name, Node &node, StringRef modelPath,
                              TensorCache &tensors, FileDiagnostics &diagnostics) {
  using Proto = ::onnx::AttributeProto;
  Attribute to;
  std::string what = "attribute '" + name.str() + "' of " + node.describe();
  int values = from.has_f() + from.has_i() + from.has_s() + from.has_t() + from.has_g() + (from.floats_size() > 0) +
               (from.ints_size() > 0) + (from.strings_size() > 0);
  if (name.empty() || from.type() == Proto::UNDEFINED || values > 1)
    return diagnostics.error(what + (name.empty() ? " has no name"
                                     : values > 1 ? " has several values"
                                                  : " has no type"));
  if (std::string problem = checkName(name); !problem.empty())
    return diagnostics.error("the name of an attribute of " + node.describe() + " " + problem);
  switch (from.type()) {
  case Proto::INT:
    to.kind = Kind::Int, to.i = from.i();
    break;
  case Proto::FLOAT:
    to.kind = Kind::Float, to.f = from.f();
    break;
  case Proto::STRING:
    to.kind = Kind::String, to.s = from.s();
    break;
  case Proto::INTS:
    to.kind = Kind::Ints, to.ints.assign(from.ints().begin(), from.ints().end());
    break;
  case Proto::FLOATS:
    to.kind = Kind::Floats, to.floats.assign(from.floats().begin(), from.floats().end());
    break;
  case Proto::STRINGS:
    to.kind = Kind::Strings;
    break;
  case Proto::TENSOR:
    to.kind = Kind::Tensor;
    if (auto [entry, isNew] = tensors.try_emplace(&from.t()); isNew) {
      auto tensor = std::make_shared<FileTensor>();
      if (readTensor(*from.mutable_t(), what, modelPath, *tensor, diagnostics))
        entry->second = std::move(tensor);
    }
    if (!(to.tensor = tensors[&from.t()]))
      return;
    break;
  default:
    return; // graphs and the like belong to operators that the table does not have
  }
  for (const AttributeKind &row : attributeKinds)
    if (row.name == name && row.kind != to.kind)
      return diagnostics.error(what + " must be " + kindNames[(int)row.kind] + ", but is " + kindNames[(int)to.kind]);
  if (!node.attributes.try_emplace(name, std::move(to)).second)
    diagnostics.error(what + " is given twice");
}

std::optional<Model> xlc::onnx::readModel(StringRef path, FileDiagnostics &diagnostics) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(path, maximumFile);
  if (!buffer) {
    diagnostics.error("cannot read the model: " + toString(buffer.takeError()));
    return std::nullopt;
  }
  ::onnx::ModelProto proto;
  StringRef bytes = (*buffer)->getBuffer();
  if (!proto.ParseFromArray(bytes.data(), (int)bytes.size())) {
    diagnostics.error("this is not an ONNX file, or it is damaged: its " + Twine(bytes.size()) +
                      " bytes cannot be parsed as a model");
    return std::nullopt;
  }
  return Reader(path, proto, diagnostics).read();
}
