// From ONNX nodes to ops of the `graph` dialect, one node after the other.
//
// Every value of the file is either known (a ConstantTensor), or an mlir::Value of static shape. A node whose inputs
// are all known is evaluated; any other is composed of `graph` ops by its rule. Values that are not tensors (a
// sequence, a branch) are structure, and are resolved during the walk. Rules are rows of one table (Operators.cpp) and
// access the node through NodeImport.
#ifndef XLC_IMPORT_IMPORTER_H
#define XLC_IMPORT_IMPORTER_H

#include "Evaluate.h"
#include "HiddenRows.h"
#include "Parameters.h"
#include "StoppedGradients.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Formula.h"
#include "xlc/Dialect/Graph/InputAttributes.h"
#include "xlc/Dialect/Graph/TrainingAttributes.h"
#include "xlc/Import/Import.h"

namespace xlc::onnx {

/// The value of a name of the file. Empty if an error was reported at its definition, or if its node does not run.
struct ImportedValue {
  std::shared_ptr<const ConstantTensor> constant;
  mlir::Value value;
  std::shared_ptr<const std::vector<ImportedValue>> sequence;
  bool isTensor() const { return constant || value; }
  bool isKnown() const { return isTensor() || sequence; }
  mlir::Value materialized; ///< the constant as an op, once one was needed
};

/// The value, or its constant if it has no elements.
ImportedValue holdValue(mlir::Value value);

/// Binds every dimension of the inputs: dimension 0 is spec.microBatch, others are those of spec.dims.
void bindDimensions(Model &model, const Spec &spec, const ImportOptions &options, FileDiagnostics &diagnostics);

/// The element type of the graph dialect; null for one that exists in ONNX only (uint8).
mlir::Type convertType(ElementType type, mlir::MLIRContext *context);
/// The inverse; none for a type that does not occur in models (bf16).
std::optional<ElementType> findElementType(mlir::Type type);

class Sites;

/// A node during its import into the graph dialect: the interface of the rules.
class NodeImport : public graph::Formula {
public:
  NodeImport(const Node &node, int64_t opset, mlir::OpBuilder &builder, mlir::Location loc,
             llvm::ArrayRef<ImportedValue *> inputs, mlir::Value vanishedBias, Sites *sites = nullptr)
      : Formula(builder, loc, graph::Spelling::AsModels), node(node), opset(opset), builder(builder),
        vanishedBias(vanishedBias), sites(sites), inputs(inputs) {}

  const Node &node;
  int64_t opset;
  mlir::OpBuilder &builder;
  mlir::Value vanishedBias; ///< a bias that the exporter dropped, to be added; or null
  Sites *sites;             ///< for nodes that draw, which are never evaluated; null where others are
  llvm::SmallVector<mlir::Value> outputs;
  std::string problem;

  bool fail(const llvm::Twine &why) { return problem = why.str(), false; }
  bool produce(mlir::Value value) { return outputs.push_back(value), true; }

  size_t numInputs() const { return inputs.size(); }
  bool has(size_t i) const { return i < inputs.size() && inputs[i]; }
  /// The elements of input `i` if they are known; null otherwise.
  const ConstantTensor *constant(size_t i) const { return has(i) ? inputs[i]->constant.get() : nullptr; }
  Shape shape(size_t i) const;
  mlir::Type elementType(size_t i) const;
  /// Input `i` as a value of its full shape; null (and a problem) when its type is not one of the graph's.
  mlir::Value value(size_t i);
  using Formula::broadcast;
  /// Input `i` broadcast to `shape`.
  mlir::Value broadcast(size_t i, llvm::ArrayRef<int64_t> shape);
  /// Inputs 0 and 1 broadcast to their common shape; false (and a problem) when there is none.
  bool broadcastPair(size_t a, size_t b, mlir::Value &x, mlir::Value &y);

private:
  llvm::ArrayRef<ImportedValue *> inputs;
};

using ImportRule = bool (*)(NodeImport &);

/// A node that arranges tensors without computing: it builds sequences, takes elements from them, selects a branch, or
/// determines by a tensor which other operator it is.
class StructureImport {
public:
  using Values = llvm::SmallVector<ImportedValue>;
  /// Imports another node, with these inputs; false after an error.
  using Apply = llvm::function_ref<bool(const Node &node, llvm::ArrayRef<ImportedValue *> inputs, Values &outputs)>;
  StructureImport(const Node &node, llvm::ArrayRef<ImportedValue *> inputs, Apply apply)
      : node(node), inputs(inputs), applyNode(apply) {}

  const Node &node;
  llvm::ArrayRef<ImportedValue *> inputs;
  Values outputs;
  std::string problem; ///< empty where `applyNode` has complained

  bool fail(const llvm::Twine &why) { return problem = why.str(), false; }
  bool produce(ImportedValue value) { return outputs.push_back(std::move(value)), true; }
  bool has(size_t i) const { return i < inputs.size() && inputs[i]; }
  Shape shape(size_t i) const;
  /// The elements of the sequence that is input `i`; null (and a problem) if it is a tensor.
  const std::vector<ImportedValue> *sequence(size_t i);
  /// Input `i` as a known integer, or as known integers; none (and a problem) otherwise.
  std::optional<int64_t> integer(size_t i);
  /// Applies `op` with integer attributes to `values`.
  bool apply(llvm::StringRef op, std::initializer_list<std::pair<llvm::StringRef, int64_t>> attributes,
             llvm::ArrayRef<ImportedValue> values, size_t numOutputs, Values &results);

private:
  Apply applyNode;
};
using StructureRule = bool (*)(StructureImport &);

/// One row of the table.
struct Operator {
  llvm::StringLiteral name;
  int minInputs, maxInputs; ///< inputs below minInputs may not be omitted
  int maxOutputs;
  llvm::StringLiteral attributes;    ///< those that it may have, with ! those that it must have; any of opsets 13 to 21
  EvaluateRule evaluate;             ///< null: never evaluated, only imported
  ImportRule import;                 ///< null: only evaluated
  llvm::StringLiteral becomes;       ///< for docs/Operators.md
  StructureRule structure = nullptr; ///< instead of both: for what is no computation
};

/// The row of an operator of ONNX's own domain, or null.
const Operator *findOperator(const Node &node);

/// The reason why ONNX's operator `name` has no row; empty if it is not an operator, or has a row.
llvm::StringRef findReasonLeftOut(llvm::StringRef name);
/// All of them with their reasons, sorted by name.
void forEachLeftOut(llvm::function_ref<void(llvm::StringRef name, llvm::StringRef reason)> visit);

llvm::SmallVector<int64_t> shapeOf(mlir::Value value);

/// The input whose elements `indices` are, only moved and converted; null if they are computed.
mlir::BlockArgument findIndexedInput(mlir::Value indices);

/// A constant as op(s): its stored elements, repeated to `shape`.
mlir::Value materialize(const ConstantTensor &constant, llvm::ArrayRef<int64_t> shape, mlir::OpBuilder &builder,
                        mlir::Location loc);

/// Lists every node without a row in one diagnostic; false if there is any.
bool checkOperators(const Model &model, FileDiagnostics &diagnostics);

/// Imports all nodes of `model`. `values` holds inputs and constants and receives every node's outputs.
class Importer {
public:
  Importer(const Model &model, const ParameterPlan &plan, Sites &sites, mlir::OpBuilder &builder,
           FileDiagnostics &diagnostics)
      : model(model), plan(plan), sites(sites), builder(builder), diagnostics(diagnostics),
        stops(model, plan, diagnostics), rows(model) {}

  /// Returns the value of a use of a parameter.
  using ReadParameter = llvm::function_ref<mlir::Value(const ParameterUse &)>;
  bool importNodes(ReadParameter readParameter);

  llvm::StringMap<ImportedValue> values;

private:
  using Values = StructureImport::Values;
  bool checkOutputs();
  void importNode(unsigned index, ReadParameter readParameter);
  void stopGradients(unsigned index, llvm::MutableArrayRef<ImportedValue> held,
                     llvm::MutableArrayRef<ImportedValue *> inputs, ReadParameter readParameter);
  void hideRows(const Node &node, llvm::MutableArrayRef<ImportedValue> held,
                llvm::MutableArrayRef<ImportedValue *> inputs);
  void guardRows(const Node &node, Values &outputs);
  Flow findFlow(unsigned index, unsigned input, ReadParameter readParameter);
  bool runs(int guard);
  bool apply(const Node &node, llvm::ArrayRef<ImportedValue *> inputs, mlir::Value bias, Values &outputs);
  bool arrange(const Node &node, const Operator &op, llvm::ArrayRef<ImportedValue *> inputs, Values &outputs);
  bool evaluate(const Node &node, const Operator &op, llvm::ArrayRef<ImportedValue *> inputs, Values &outputs);
  bool import(const Node &node, const Operator &op, llvm::ArrayRef<ImportedValue *> inputs, mlir::Value bias,
              Values &outputs);
  bool complain(const Node &node, const llvm::Twine &problem);
  static bool unfolds(const Node &node, llvm::ArrayRef<ImportedValue *> inputs);
  std::string getKey(const Node &node, llvm::ArrayRef<ImportedValue *> inputs);

  const Model &model;
  const ParameterPlan &plan;
  Sites &sites;
  mlir::OpBuilder &builder;
  FileDiagnostics &diagnostics;
  StoppedGradients stops;
  ActiveValues active;
  HiddenRows rows;
  std::vector<std::optional<bool>> guards; ///< whether nodes with that guard run, once it is known
  int64_t evaluatedElements = 0;
  /// Results by operator, attributes and inputs: a mask that every layer recomputes is evaluated once.
  llvm::StringMap<std::vector<std::shared_ptr<const ConstantTensor>>> evaluated;
};

} // namespace xlc::onnx

#endif
