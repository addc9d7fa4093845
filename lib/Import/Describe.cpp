// See Describe.h. It uses the same reader and the same plan of parameters as importing, so that the description is that
// of the model that would be trained.
#include "xlc/Import/Describe.h"

#include "Importer.h"
#include "MergedModules.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace xlc;
using namespace xlc::onnx;

namespace {

struct TypeName {
  ElementType type;
  StringLiteral name;
};
constexpr TypeName typeNames[] = {{ElementType::Float, "float32"}, {ElementType::Uint8, "uint8"},
                                  {ElementType::Int8, "int8"},     {ElementType::Int32, "int32"},
                                  {ElementType::Int64, "int64"},   {ElementType::Bool, "bool"},
                                  {ElementType::Double, "float64"}};

std::string nameOf(ElementType type) {
  for (const TypeName &row : typeNames)
    if (row.type == type)
      return row.name.str();
  return "?";
}

class Describer {
public:
  Describer(Model &model, const InitSpec &init) : model(model) { spec.init = init; }

  FileDescription describe() {
    result.nodes = (int64_t)model.nodes.size();
    result.outputs = model.outputs;
    describeInputs();
    describeOperators();
    std::string notes;
    raw_string_ostream noteStream(notes);
    Diagnostics collected(result.complaints);
    FileDiagnostics diagnostics(model.path, collected);
    splitMerged(model, &noteStream, diagnostics);
    ParameterPlan plan = planParameters(model, findBatchNorms(model, diagnostics), spec, diagnostics, &noteStream);
    describeParameters(plan);
    describeTies(plan);
    describeBuffers(plan);
    describeConstants(plan);
    result.listed = model.signature.parameters, result.lost = plan.lost;
    SmallVector<StringRef> lines;
    if (model.record)
      for (const ExportRecord::Dropout &dropout : model.record->dropouts)
        if (!dropout.isOn && dropout.ratio > 0)
          result.dropoutsOff.push_back(formatv("'{0}' ({1})", dropout.module, dropout.ratio));
    StringRef(notes).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      result.undone.push_back(line.str());
    return std::move(result);
  }

private:
  void describeInputs() {
    StringSet<> known;
    for (const ModelInput &input : model.inputs) {
      auto &made = result.inputs.emplace_back(FileDescription::Input{input.name, nameOf(input.type), {}});
      for (auto [d, dimension] : enumerate(input.shape)) {
        made.shape.push_back(dimension.size           ? std::to_string(*dimension.size)
                             : dimension.name.empty() ? "?"
                                                      : dimension.name);
        if (dimension.name.empty() || dimension.size)
          continue;
        if (d == 0 && result.batch.empty())
          result.batch = dimension.name;
        if (d > 0 && dimension.name != result.batch && known.insert(dimension.name).second)
          result.dims.push_back(dimension.name);
      }
    }
  }

  void describeOperators() {
    MapVector<std::string, FileDescription::Operator, std::map<std::string, unsigned>> byName;
    for (const Node &node : model.nodes) {
      FileDescription::Operator &op = byName[node.domain.empty() ? node.op : node.domain + "." + node.op];
      if (op.count++)
        continue;
      op.isSupported = findOperator(node) != nullptr;
      op.firstNode = "'" + node.name + "'" + (node.scope.empty() ? "" : " in '" + node.scope + "'");
    }
    for (auto &[name, op] : byName) {
      op.name = name;
      result.operators.push_back(op);
    }
    auto rank = [](const FileDescription::Operator &op) { return std::make_pair(-op.count, op.name); };
    sort(result.operators, [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
  }

  void describeParameters(const ParameterPlan &plan) {
    for (const Parameter &parameter : plan.parameters) {
      if (parameter.buffer != Buffer::None) {
        result.buffers.push_back({parameter.name, nameOf(ElementType::Float), parameter.shape});
        continue;
      }
      auto &made = result.parameters.emplace_back();
      made.name = parameter.name, made.shape = parameter.shape, made.guess = parameter.guess;
      if (parameter.initializer < 0) {
        made.origin = parameter.value ? "the state dict" : "zeros, dropped";
        continue;
      }
      made.initializer = model.initializers[parameter.initializer].name;
      made.origin = parameter.value ? "the state dict" : made.initializer == made.name ? "the file" : "its reader";
      made.origin += parameter.isTransposed ? ", transposed" : "";
      made.origin += parameter.isFrozen ? ", frozen" : "";
    }
    for (const Parameter &parameter : plan.unread)
      result.parameters.push_back(
          {parameter.name, parameter.shape, "the file, not read by a node", parameter.name, ""});
  }

  void describeTies(const ParameterPlan &plan) {
    StringMap<std::string> resolved = plan.resolveTies();
    for (const auto &[name, parameter] : plan.ties)
      result.ties.push_back({name, resolved[name]});
  }

  void describeBuffers(const ParameterPlan &plan) {
    StringSet<> buffers;
    buffers.insert_range(model.signature.buffers);
    for (auto [i, tensor] : enumerate(model.initializers))
      if (!plan.isParameter[i] && (buffers.contains(tensor.name) || StringRef(tensor.name).contains('.')))
        result.buffers.push_back({tensor.name, nameOf(tensor.type), tensor.shape});
  }

  /// Those of one element are numbers of formulas.
  void describeConstants(const ParameterPlan &plan) {
    StringSet<> buffers;
    for (const FileDescription::Buffer &buffer : result.buffers)
      buffers.insert(buffer.name);
    for (const ParameterPlan::Constant &constant : plan.constants) {
      const FileTensor &tensor = model.initializers[constant.initializer];
      const Node &reader = model.nodes[constant.nodes.front()];
      if (tensor.numElements() > 1 && !buffers.contains(tensor.name))
        result.constants.push_back({tensor.name, tensor.shape, reader.op, reader.scope});
    }
  }

  Model &model;
  Spec spec; ///< all of it that matters for names
  FileDescription result;
};

} // namespace

int64_t FileDescription::Parameter::numElements() const {
  uint64_t elements = 1;
  for (int64_t size : shape)
    elements = SaturatingMultiply(elements, (uint64_t)size);
  return (int64_t)std::min<uint64_t>(elements, INT64_MAX);
}

int64_t FileDescription::numParameterElements() const {
  uint64_t elements = 0;
  for (const Parameter &parameter : parameters)
    elements = SaturatingAdd(elements, (uint64_t)parameter.numElements());
  return (int64_t)std::min<uint64_t>(elements, INT64_MAX);
}

std::optional<FileDescription> xlc::describeFile(StringRef path, const InitSpec &init, Diagnostics &diagnostics) {
  FileDiagnostics ofFile(path, diagnostics);
  std::optional<Model> model = readModel(path, ofFile);
  if (!model)
    return std::nullopt;
  return Describer(*model, init).describe();
}
