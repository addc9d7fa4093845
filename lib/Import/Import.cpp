// The phase Import: file -> parameters -> graph -> loss -> named ops -> units. See docs/Phases.md.
//
// The order matters in two places. Dimensions are bound first, so that every value has a static shape and shape
// arithmetic is evaluated, never built. Parameters are planned before any node is imported, since a node reads the
// parameter of the PyTorch model, not the one that the file names.
#include "xlc/Import/Import.h"
#include "xlc/Dialect/Graph/Entry.h"

#include "EvaluationSums.h"
#include "Inference.h"
#include "InputFiles.h"
#include "InputLimits.h"
#include "Loss.h"
#include "MergedModules.h"
#include "NarrowTypes.h"
#include "Padding.h"
#include "ParameterNames.h"
#include "ParameterSources.h"
#include "Sites.h"
#include "StepCounts.h"
#include "StoppedGradients.h"
#include "TracedCalls.h"
#include "Untold.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "xlc/Dialect/Graph/SignatureAttributes.h"
#include "xlc/Import/Passes.h"
#include "xlc/Raise/NoteRaised.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace mlir;
using namespace xlc;
using namespace xlc::onnx;

namespace {

class ModelImport {
public:
  ModelImport(Model &model, const Spec &spec, const ImportOptions &options, MLIRContext &context,
              FileDiagnostics &diagnostics)
      : model(model), spec(spec), options(options), diagnostics(diagnostics), builder(&context) {}

  std::optional<ImportedModel> run() {
    unbound = model.inputs;
    bindDimensions(model, spec, options, diagnostics);
    if (!checkOperators(model, diagnostics) || diagnostics.hasErrors()) // what such a node reads says nothing
      return std::nullopt;
    checkTracedCalls(model, diagnostics);
    splitMerged(model, options.notes, diagnostics);
    BatchNorms norms = findBatchNorms(model, diagnostics);
    refuseChangedBuffers(model, norms, diagnostics);
    ParameterPlan plan = planParameters(model, norms, spec, diagnostics, options.notes);
    checkTrainable(model, plan, spec, diagnostics);
    narrowTypes(model, plan, diagnostics);
    for (auto [open, input] : llvm::zip(unbound, model.inputs))
      open.type = input.type;
    findPadding(model, plan, spec, diagnostics);
    reportUntold(model, plan, spec, diagnostics);
    findSitesElsewhere(plan);
    Sites sites(model, spec.microBatch, spec.dropsNothing, elsewhere.sites.empty() ? nullptr : &elsewhere);
    Importer importer(model, plan, sites, builder, diagnostics);
    if (diagnostics.hasErrors())
      return std::nullopt;
    ImportedModel result;
    result.module = ModuleOp::create(builder.getUnknownLoc(), llvm::sys::path::filename(model.path));
    createFunction(*result.module, plan);
    if (!defineValues(importer, plan) || !importNodes(importer))
      return std::nullopt;
    std::optional<LossValue> loss = findLoss(model, spec, importer.values, forward, builder, diagnostics);
    if (!loss)
      return std::nullopt;
    finishFunction(*result.module, cut(*loss, plan));
    returnBuffers(norms, plan, importer);
    if (!runPasses(*result.module))
      return std::nullopt;
    warnOfNorms(norms, spec, diagnostics);
    warnOfHiddenRows(model, forward, diagnostics);
    freezeUnreached(forward, diagnostics);
    limitInputs(forward);
    limitWholeSteps(forward);
    checkInputFiles(model, spec, forward, diagnostics);
    if (options.notes && options.raise)
      noteRaised(forward, *options.notes);
    if (spec.eval && !addEvaluation(*result.module, plan))
      return std::nullopt;
    describeParameters(model, plan, forward, result.parameters, diagnostics);
    result.absentConstants = std::move(absentConstants);
    result.sites = sites.list();
    for (const FileTensor &tensor : model.initializers)
      if (!tensor.file.empty() && !tensor.isAbsent)
        result.files.insert(tensor.file);
    if (diagnostics.hasErrors())
      return std::nullopt;
    return result;
  }

private:
  /// Reads the file again, as its model infers, and adds @evaluate to the module.
  bool addEvaluation(ModuleOp module, const ParameterPlan &plan) {
    std::optional<InferringNodes> inferring = makeInferring(model, plan, diagnostics);
    if (!inferring)
      return false;
    std::vector<Node> training = std::exchange(model.nodes, std::move(inferring->nodes));
    Spec infers = spec;
    infers.dropsNothing = true;
    Diagnostics errors([&](const Message &message) { // warnings were said when it was read the first time
      if (message.severity == Severity::Error)
        diagnostics.report(message);
    });
    FileDiagnostics again(model.path, errors);
    ImportOptions quiet = options;
    quiet.notes = nullptr;
    ModelImport other(model, infers, quiet, *builder.getContext(), again);
    other.unbound = unbound;
    OwningOpRef<ModuleOp> apart = ModuleOp::create(builder.getUnknownLoc());
    func::FuncOp made = other.importEvaluation(*apart, inferring->plan);
    model.nodes = std::move(training);
    if (!made)
      return false;
    assignUnitsLike(forward, made);
    made->remove();
    module.push_back(made);
    if (mlir::Attribute whole = (*apart)->getAttr(kWholeBatches))
      module->setAttr(kWholeBatches, whole);
    return true;
  }

  /// Null after a complaint.
  func::FuncOp importEvaluation(ModuleOp module, const ParameterPlan &plan) {
    Sites sites(model, spec.microBatch, /*dropsNothing=*/true, nullptr);
    Importer importer(model, plan, sites, builder, diagnostics);
    createFunction(module, plan);
    if (!defineValues(importer, plan) || !importNodes(importer))
      return {};
    std::optional<LossValue> loss = findLoss(model, spec, importer.values, forward, builder, diagnostics);
    if (!loss)
      return {};
    finishFunction(module, cut(*loss, plan));
    std::optional<SmallVector<Value>> outputs = findOutputs(model, spec, importer, diagnostics);
    if (!outputs)
      return {};
    returnBehind(*outputs, graph::kOutput, spec.eval->outputs);
    if (!runPasses(module) || !addEvaluationSums(spec, forward, diagnostics) || diagnostics.hasErrors())
      return {};
    forward.setName(graph::kEvaluate);
    graph::Entry::make(forward, graph::Purpose::evaluate);
    return forward;
  }

  /// func.func @forward(parameters..., inputs...), with the attributes of its arguments.
  void createFunction(ModuleOp module, const ParameterPlan &plan) {
    SmallVector<Type> types;
    SmallVector<DictionaryAttr> attributes;
    auto add = [&](ArrayRef<int64_t> shape, Type element, StringRef key, StringRef name, bool isFrozen,
                   bool isBuffer = false) {
      types.push_back(RankedTensorType::get(shape, element));
      SmallVector<NamedAttribute> entries{builder.getNamedAttr(key, builder.getStringAttr(name))};
      if (isBuffer)
        entries.push_back(builder.getNamedAttr(graph::kBuffer, builder.getUnitAttr()));
      if (isFrozen)
        entries.push_back(builder.getNamedAttr(graph::kFrozen, builder.getUnitAttr()));
      attributes.push_back(builder.getDictionaryAttr(entries));
    };
    for (const Parameter &parameter : plan.parameters) {
      bool isBuffer = parameter.buffer != Buffer::None;
      add(parameter.shape, builder.getF32Type(), graph::kParam, parameter.name,
          isBuffer || parameter.isFrozen || !matchesPatterns(parameter.name, spec.trainable), isBuffer);
    }
    for (const ModelInput &input : model.inputs) {
      if (input.name == graph::kSampleInput)
        diagnostics.error("input '" + input.name +
                          "' has a name that is reserved for sample numbers: give the input another name");
      SmallVector<int64_t> shape;
      for (const Dimension &dimension : input.shape)
        shape.push_back(dimension.size.value_or(1));
      Type element = convertType(input.type, builder.getContext());
      if (!element)
        diagnostics.error("input '" + input.name + "' has element type " + nameOfType((int)input.type) +
                          "; inputs may be float, double, int32, int64 or bool");
      checkShape(input.name, shape);
      add(shape, element ? element : builder.getF32Type(), graph::kInput, input.name, false);
    }
    builder.setInsertionPointToEnd(module.getBody());
    forward = func::FuncOp::create(builder, builder.getUnknownLoc(), "forward", builder.getFunctionType(types, {}));
    forward.setAllArgAttrs(attributes);
    builder.setInsertionPointToEnd(forward.addEntryBlock());
  }

  void checkShape(StringRef name, ArrayRef<int64_t> shape) {
    if (shape.empty())
      diagnostics.error("input '" + name + "' has no dimensions; dimension 0 of an input must be the batch");
    int64_t elements = 1;
    for (int64_t size : shape)
      if (llvm::MulOverflow(elements, size, elements) || elements > maximumElements)
        return diagnostics.error("input '" + name + "' has more than 2^44 elements");
  }

  bool defineValues(Importer &importer, const ParameterPlan &plan) {
    llvm::StringSet<> used;
    for (const Node &node : model.nodes)
      used.insert_range(node.inputs);
    for (const auto &[at, use] : plan.uses)
      if (Value &value = views[use]; !use.view.isWhole() && !value)
        value = view(plan.parameters[use.parameter].name, forward.getArgument(use.parameter), use.view);
    for (auto [i, input] : llvm::enumerate(model.inputs))
      importer.values[input.name].value = forward.getArgument(plan.parameters.size() + i);
    for (auto [i, tensor] : llvm::enumerate(model.initializers)) {
      if (plan.isParameter[i] || !used.contains(tensor.name))
        continue;
      if (tensor.numElements() > maximumStored)
        diagnostics.error("constant '" + tensor.name + "' has more than " + Twine(maximumStored) + " elements");
      else if (tensor.isAbsent && isFloat(tensor.type))
        importer.values[tensor.name].constant = standIn(tensor);
      else if (!tensor.load())
        diagnostics.error("constant '" + tensor.name + "' has no values: its external file '" + tensor.file +
                          "' cannot be read");
      else
        importer.values[tensor.name].constant = std::make_shared<ConstantTensor>(ConstantTensor::fromFile(tensor));
    }
    return !diagnostics.hasErrors();
  }

  /// Some values for a constant of which only the shape is known. No two are equal, so that nothing is
  /// recognised in them that will not be there.
  std::shared_ptr<ConstantTensor> standIn(const FileTensor &tensor) {
    absentConstants.push_back({tensor.name, tensor.file});
    auto constant = std::make_shared<ConstantTensor>(tensor.type, tensor.shape);
    for (size_t i = 0; i < constant->numStored(); ++i)
      constant->set(i, 1.0 / double(i + 2));
    return constant;
  }

  Value view(StringRef name, Value value, const TensorView &view) {
    Location loc = NameLoc::get(builder.getStringAttr(name));
    SmallVector<int64_t> permuted;
    for (int64_t from : view.permutation)
      permuted.push_back(shapeOf(value)[from]);
    if (!permuted.empty())
      value = graph::TransposeOp::create(builder, loc, RankedTensorType::get(permuted, builder.getF32Type()), value,
                                         view.permutation);
    if (!view.shape.empty())
      value = graph::ReshapeOp::create(builder, loc, RankedTensorType::get(view.shape, builder.getF32Type()), value);
    return value;
  }

  bool importNodes(Importer &importer) {
    return importer.importNodes([&](const ParameterUse &use) -> Value {
      return use.view.isWhole() ? forward.getArgument(use.parameter) : views.at(use);
    });
  }

  void finishFunction(ModuleOp module, const Loss &loss) {
    func::ReturnOp::create(builder, builder.getUnknownLoc(), ValueRange{loss.sum, loss.count});
    forward.setType(
        builder.getFunctionType(forward.front().getArgumentTypes(), {loss.sum.getType(), loss.count.getType()}));
    module->setAttr(kLossScope, builder.getStringAttr(loss.scope));
    // A power of two, so that dividing by it rounds nothing; the update corrects by the actual count.
    module->setAttr(graph::kNominalCount,
                    builder.getI64IntegerAttr((int64_t)llvm::bit_ceil((uint64_t)loss.nominalCount)));
  }

  /// The graph of the same model at another batch, into `module`; without a loss where the file does not allow that.
  BatchGraph importAt(int64_t batch, const ParameterPlan &plan, ModuleOp module) {
    std::vector<ModelInput> bound = std::exchange(model.inputs, unbound);
    Spec other = spec;
    other.microBatch = batch;
    for (const ModelInput &input : model.inputs) // the spec may say the batch here, too
      if (!input.shape.empty())
        other.dims.erase(input.shape.front().name);
    Diagnostics nowhere;
    FileDiagnostics silent(model.path, nowhere);
    ModelImport twin(model, other, {}, *builder.getContext(), silent);
    Sites sites(model, batch, spec.dropsNothing, elsewhere.sites.empty() ? nullptr : &elsewhere);
    Importer importer(model, plan, sites, twin.builder, silent);
    bindDimensions(model, other, options, silent);
    std::optional<LossValue> loss;
    if (!silent.hasErrors()) {
      twin.createFunction(module, plan);
      if (twin.defineValues(importer, plan) && twin.importNodes(importer)) {
        loss = findLoss(model, other, importer.values, twin.forward, twin.builder, silent);
        if (elsewhere.sites.empty())
          elsewhere = {batch, sites.list()};
      }
    }
    model.inputs = std::move(bound);
    return {twin.forward, batch, loss ? loss->value : Value()};
  }

  /// Where nodes draw numbers for tensors of known elements, all sites at a batch that is the size of nothing else.
  void findSitesElsewhere(const ParameterPlan &plan) {
    auto isNoise = [](const Node &node) { return StringRef(node.op).starts_with("Random") || node.op == "Bernoulli"; };
    if (llvm::none_of(model.nodes, isNoise))
      return;
    OwningOpRef<ModuleOp> other = ModuleOp::create(builder.getUnknownLoc());
    importAt(findUnusedSizes(model)[0], plan, *other);
  }

  /// The loss as each rank computes it of its part of a step. What is imported at other batches is gone then.
  Loss cut(const LossValue &loss, const ParameterPlan &plan) {
    OwningOpRef<ModuleOp> others[2], whole;
    auto importWhole = [&](int64_t batch) {
      whole = ModuleOp::create(builder.getUnknownLoc());
      return importAt(batch, plan, *whole);
    };
    LossTerms terms = findTerms(loss, plan, others);
    return cutLoss(model, spec, loss, terms, importWhole, forward, builder, diagnostics);
  }

  /// Of what the loss consists, found on graphs at two batches that are sizes of nothing else; on this one where the
  /// file fixes its batch.
  LossTerms findTerms(const LossValue &loss, const ParameterPlan &plan, OwningOpRef<ModuleOp> (&others)[2]) {
    llvm::StringSet<> norms;
    for (const Node &node : model.nodes)
      if (node.op == "BatchNormalization" && isTrainingForm(node, node.opset))
        norms.insert(node.name);
    SmallVector<int64_t> batches = findUnusedSizes(model);
    for (OwningOpRef<ModuleOp> &other : others)
      other = ModuleOp::create(builder.getUnknownLoc());
    BatchGraph here{forward, spec.microBatch, loss.value};
    BatchGraph a = importAt(batches[0], plan, *others[0]);
    BatchGraph b = a.loss ? importAt(batches[1], plan, *others[1]) : a;
    if (a.loss && b.loss)
      return findLossTerms(a, b, norms);
    if (spec.microBatch > 1)
      return findLossTerms(here, here, norms);
    return {{}, {}, LossObstacle{Obstacle::Fixed}};
  }

  /// Makes `values` results of @forward, after those that it has, with an attribute each.
  void returnBehind(ArrayRef<Value> values, StringRef attribute, ArrayRef<std::string> names) {
    Operation *end = forward.front().getTerminator();
    SmallVector<Value> results(end->getOperands());
    size_t first = results.size();
    llvm::append_range(results, values);
    end->setOperands(results);
    forward.setType(builder.getFunctionType(forward.front().getArgumentTypes(), ValueRange(results).getTypes()));
    graph::SignatureAttributes attributes(forward);
    for (auto [i, name] : llvm::enumerate(names))
      attributes.setResult(first + i, attribute, builder.getStringAttr(name));
  }

  /// The next values of running averages are results of @forward, after loss and count.
  void returnBuffers(const BatchNorms &norms, const ParameterPlan &plan, Importer &importer) {
    SmallVector<Value> values;
    SmallVector<std::string> names;
    for (const BatchNorms::Update &update : norms.updates) {
      auto use = plan.uses.find({update.node, update.input});
      Value value = importer.values[update.value].value;
      if (use == plan.uses.end() || !value)
        continue;
      names.push_back(plan.parameters[use->second.parameter].name);
      values.push_back(value);
    }
    returnBehind(values, graph::kBuffer, names);
  }

  bool runPasses(ModuleOp module) {
    ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
      diagnostics.error("while importing: " + Twine(diagnostic.str()));
      return success();
    });
    PassManager manager(module.getContext());
    buildImportPipeline(manager, options.raise, /*cutsBlocks=*/spec.pp > 1);
    manager.enableVerifier(false); // once, at the end
    return succeeded(manager.run(module)) && succeeded(mlir::verify(module)) && succeeded(verifyImported(module));
  }

  Model &model;
  const Spec &spec;
  const ImportOptions &options;
  FileDiagnostics &diagnostics;
  OpBuilder builder;
  func::FuncOp forward;
  std::map<ParameterUse, Value> views; ///< parameters as nodes read them
  std::vector<AbsentConstant> absentConstants;
  SitesElsewhere elsewhere;
  std::vector<ModelInput> unbound; ///< the inputs as the file has them
};

} // namespace

std::optional<ImportedModel> xlc::importModel(StringRef path, const Spec &spec, const ImportOptions &options,
                                              MLIRContext &context, Diagnostics &diagnostics) {
  context.loadDialect<func::FuncDialect, graph::GraphDialect>();
  FileDiagnostics ofFile(path, diagnostics);
  std::optional<Model> model = readModel(path, ofFile);
  if (!model)
    return std::nullopt;
  return ModelImport(*model, spec, options, context, ofFile).run();
}
