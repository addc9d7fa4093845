// See Inspect.h. The model is imported in the same way as for planning, for one sample. Missing inputs get
// placeholders: a size for each dimension without one, a loss for a model that ends in logits. Neither changes the set
// of units.
#include "xlc/Inspect/Inspect.h"
#include "xlc/Dialect/Graph/Signature.h"

#include "mlir/Pass/PassManager.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Differentiate/Differentiate.h"
#include "xlc/Estimate/Cost.h"
#include "xlc/Import/Import.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace xlc;

namespace {

/// Stands for a dimension without a size: small, and within any table of positions.
constexpr int64_t madeUpSize = 16;

class Inspector {
public:
  Inspector(StringRef path, const InspectOptions &options, MLIRContext &context)
      : path(path), options(options), context(context) {}

  Inspection inspect(FileDescription file) {
    inspection.file = std::move(file);
    inspection.dims = options.dims;
    inspection.hasFigures = true;
    for (const std::string &name : inspection.file.dims)
      inspection.hasFigures &= !inspection.dims.try_emplace(name, madeUpSize).second;
    bool isComplete = llvm::all_of(inspection.file.operators, [](const auto &op) { return op.isSupported; });
    if (OwningOpRef<ModuleOp> module = isComplete ? import() : nullptr)
      describeUnits(*module);
    return std::move(inspection);
  }

private:
  /// With the model's own loss; where it has none, with a cross-entropy over its first output.
  OwningOpRef<ModuleOp> import() {
    Spec spec;
    spec.dims = inspection.dims, spec.init = options.init;
    for (const FileDescription::Input &input : inspection.file.inputs) // a batch that is fixed stays as it is
      if (int64_t size = 0; !input.shape.empty() && !StringRef(input.shape[0]).getAsInteger(10, size))
        spec.microBatch = size;
    samples = spec.microBatch;
    for (bool ownLoss : {true, false}) {
      if (!ownLoss) {
        spec.loss.type = LossSpec::Type::CrossEntropy;
        spec.loss.logits = inspection.file.outputs.front();
        spec.loss.labels = "labels";
      }
      std::vector<Message> complaints;
      Diagnostics collected(complaints);
      std::optional<ImportedModel> model = importModel(path, spec, {}, context, collected);
      if (model) {
        inspection.complaints = complaints;
        inspection.sites = std::move(model->sites);
        return std::move(model->module);
      }
      if (ownLoss)
        inspection.complaints = complaints;
    }
    return nullptr;
  }

  void describeUnits(ModuleOp module) {
    auto function = *module.getOps<func::FuncOp>().begin();
    countOps(function, /*isForward=*/true);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      inspection.complaints.push_back(toMessage(diagnostic, path));
      return success();
    });
    PassManager manager(&context);
    manager.addPass(createDifferentiatePass());
    if (succeeded(manager.run(module)))
      countOps(*module.getOps<func::FuncOp>().begin(), /*isForward=*/false);
    for (UnitDescription &unit : inspection.units) {
      inspection.forward += unit.forward, inspection.backward += unit.backward;
      unit.ops /= unit.instances;
      for (Quantity *sum : {&unit.parameters, &unit.forward, &unit.backward})
        *sum /= unit.instances;
    }
    if (inspection.hasFigures)
      return;
    inspection.forward = inspection.backward = 0;
    for (UnitDescription &unit : inspection.units)
      unit.forward = unit.backward = 0;
  }

  /// Sums over all instances of a class; of the second pass, only what backward adds.
  void countOps(func::FuncOp function, bool isForward) {
    llvm::DenseSet<Value> seen;
    llvm::DenseSet<Attribute> instances;
    for (Operation &op : function.front().without_terminator()) {
      graph::ModelUnitAttr name = graph::getUnit(&op);
      std::optional<graph::Role> role = graph::getRole(&op);
      if (!name || (!isForward && (!role || role == graph::Role::F)))
        continue;
      UnitDescription &unit = find(name.getClassName().getValue());
      (isForward ? unit.forward : unit.backward) += countFlops(&op) / samples;
      if (!isForward)
        continue;
      ++unit.ops;
      unit.instances += instances.insert(name).second;
      countNamed(&op);
      for (Value operand : op.getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand))
          if (graph::Argument(argument).getParameter() && seen.insert(operand).second)
            unit.parameters += cast<RankedTensorType>(operand.getType()).getNumElements();
    }
  }

  UnitDescription &find(StringRef className) {
    for (UnitDescription &unit : inspection.units)
      if (unit.className == className)
        return unit;
    UnitDescription &unit = inspection.units.emplace_back();
    unit.className = className.str();
    return unit;
  }

  void countNamed(Operation *op) {
    StringRef name = op->getName().stripDialect();
    static constexpr StringLiteral named[] = {"attention",  "convolution", "cross_entropy", "gelu",
                                              "layer_norm", "rms_norm",    "silu",          "softmax"};
    if (llvm::is_contained(named, name))
      ++inspection.recognised[name.str()];
  }

  StringRef path;
  const InspectOptions &options;
  MLIRContext &context;
  Inspection inspection;
  int64_t samples = 1;
};

} // namespace

std::optional<Inspection> xlc::inspect(StringRef path, const InspectOptions &options, MLIRContext &context,
                                       Diagnostics &diagnostics) {
  std::optional<FileDescription> file = describeFile(path, options.init, diagnostics);
  if (!file)
    return std::nullopt;
  for (const auto &[name, size] : options.dims)
    if (!llvm::is_contained(file->dims, name)) {
      diagnostics.error(path, "--dims names '" + Twine(name) +
                                  "', which is not a dimension of the model; the model has " +
                                  (file->dims.empty() ? "none" : llvm::join(file->dims, ", ")));
      return std::nullopt;
    }
  return Inspector(path, options, context).inspect(std::move(*file));
}
