// See ParameterSources.h.
#include "ParameterSources.h"

#include "ParameterNames.h"
#include "xlc/Dialect/Graph/Graph.h"

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

static void takeValue(const InitialValue &value, ParameterSource &source) {
  source.kind = ParameterSource::Kind::Data;
  source.file = value.file, source.offset = value.offset, source.bytes = value.bytes;
}

static void describeData(FileTensor &tensor, bool isTransposed, ParameterSource &source, FileDiagnostics &diagnostics) {
  source.kind = tensor.isAbsent ? ParameterSource::Kind::Absent : ParameterSource::Kind::Data;
  if (tensor.isAbsent || (tensor.isExternal && !isTransposed && tensor.storedType == 1)) {
    source.file = tensor.file;
    source.offset = tensor.offset;
    return;
  }
  if (!tensor.load())
    return diagnostics.error("parameter '" + source.name + "' cannot be read from '" + tensor.file + "'");
  source.bytes = tensor.bytes;
  if (!isTransposed)
    return;
  int64_t rows = source.shape[0], columns = source.shape[1];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      std::copy_n(&tensor.bytes[(c * rows + r) * 4], 4, &source.bytes[(r * columns + c) * 4]);
}

/// Whether a norm multiplies by it, or its name and shape say so.
static bool isNormScale(const Parameter &parameter, BlockArgument argument) {
  if (parameter.buffer != Buffer::None)
    return parameter.buffer == Buffer::Variance;
  auto isScale = [](OpOperand &use) { return use.getOwner()->hasTrait<graph::Norm>() && use.getOperandNumber() == 1; };
  return llvm::any_of(argument.getUses(), isScale) ||
         (parameter.shape.size() == 1 && StringRef(parameter.name).ends_with("weight"));
}

void xlc::onnx::describeParameters(Model &model, const ParameterPlan &plan, func::FuncOp forward,
                                   std::vector<ParameterSource> &sources, FileDiagnostics &diagnostics) {
  llvm::StringMap<std::string> tied = plan.resolveTies();
  for (auto [i, parameter] : llvm::enumerate(plan.parameters)) {
    ParameterSource &source = sources.emplace_back();
    source.name = parameter.name;
    for (const auto &[name, parameterOfName] : plan.ties)
      if (tied[name] == parameter.name && !llvm::is_contained(source.ties, name) && !isLaterCall(name, parameter.name))
        source.ties.push_back(name);
    source.shape = parameter.shape;
    source.isNormScale = isNormScale(parameter, forward.getArgument(i));
    source.isBias = parameter.shape.size() == 1 && !source.isNormScale;
    source.kind = ParameterSource::Kind::Zeros;
    if (parameter.value)
      takeValue(*parameter.value, source);
    else if (parameter.initializer >= 0)
      describeData(model.initializers[parameter.initializer], parameter.isTransposed, source, diagnostics);
  }
}
