// From ONNX nodes to ops of the `graph` dialect, one node after the other.
//
// Every value of the file is either known (a ConstantTensor), or an mlir::Value of static shape.
// A node whose inputs are all known is evaluated; any other is composed of `graph` ops by its rule.
// Rules are rows of one table (Operators.cpp) and see the node through NodeImport.
#ifndef XLC_IMPORT_IMPORTER_H
#define XLC_IMPORT_IMPORTER_H

#include "Evaluate.h"
#include "Parameters.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Import/Import.h"

namespace xlc::onnx {

/// Attributes that Import sets on arguments of @forward: a parameter that is not trained; an input whose
/// elements lie in [0, limit); the one further value that labels may have. And on the module: the number of
/// targets of the global batch.
inline constexpr llvm::StringLiteral kFrozen = "graph.frozen";
inline constexpr llvm::StringLiteral kLimit = "graph.limit";
inline constexpr llvm::StringLiteral kIgnore = "graph.ignore";
inline constexpr llvm::StringLiteral kNominalCount = "graph.nominal_count";

/// What a name of the file stands for. Neither: an error was reported where it was made.
struct ImportedValue {
  std::shared_ptr<const ConstantTensor> constant;
  mlir::Value value;
  bool isKnown() const { return constant || value; }
  mlir::Value materialized; ///< the constant as an op, once one was needed
};

/// The element type of the graph dialect; null for one that exists in ONNX only (uint8).
mlir::Type convertType(ElementType type, mlir::MLIRContext *context);

/// A node on its way into the graph dialect: what rules see and build with.
class NodeImport {
public:
  NodeImport(const Node &node, int64_t opset, mlir::OpBuilder &builder, mlir::Location loc,
             llvm::ArrayRef<ImportedValue *> inputs, mlir::Value vanishedBias)
      : node(node), opset(opset), builder(builder), loc(loc), vanishedBias(vanishedBias), inputs(inputs) {}

  const Node &node;
  int64_t opset;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value vanishedBias; ///< a bias that the exporter dropped, to be added; or null
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
  /// Input `i` broadcast to `shape`.
  mlir::Value broadcast(size_t i, llvm::ArrayRef<int64_t> shape);
  /// Inputs 0 and 1 broadcast to their common shape; false (and a problem) when there is none.
  bool broadcastPair(size_t a, size_t b, mlir::Value &x, mlir::Value &y);

  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value scalar(double value, mlir::Type elementType);
  /// A scalar repeated to the type of `like`.
  mlir::Value splat(double value, mlir::Value like);
  mlir::Value contract(llvm::StringRef spec, mlir::Value a, mlir::Value b);

private:
  llvm::ArrayRef<ImportedValue *> inputs;
};

using ImportRule = bool (*)(NodeImport &);

/// One row of the table.
struct Operator {
  llvm::StringLiteral name;
  int minInputs, maxInputs;    ///< inputs below minInputs may not be omitted
  EvaluateRule evaluate;       ///< null: never evaluated, only imported
  ImportRule import;           ///< null: only evaluated
  llvm::StringLiteral becomes; ///< for docs/Operators.md
};

/// The row of an operator of ONNX's own domain, or null.
const Operator *findOperator(const Node &node);

/// Why ONNX's operator `name` has no row; empty where it is none, or has one.
llvm::StringRef findReasonLeftOut(llvm::StringRef name);
/// All of them with their reasons, sorted by name.
void forEachLeftOut(llvm::function_ref<void(llvm::StringRef name, llvm::StringRef reason)> visit);

llvm::SmallVector<int64_t> shapeOf(mlir::Value value);

/// The input whose elements `indices` are, moved and converted only; null where they are computed.
mlir::BlockArgument findIndexedInput(mlir::Value indices);

/// A constant as op(s): its stored elements, repeated to `shape`.
mlir::Value materialize(const ConstantTensor &constant, llvm::ArrayRef<int64_t> shape, mlir::OpBuilder &builder,
                        mlir::Location loc);

/// Imports all nodes of `model`. `values` holds inputs and constants and receives every node's outputs.
class Importer {
public:
  Importer(const Model &model, const ParameterPlan &plan, mlir::OpBuilder &builder, Diagnostics &diagnostics)
      : model(model), plan(plan), builder(builder), diagnostics(diagnostics) {}

  /// Lists every node without a row in one diagnostic; false if there is any.
  bool checkOperators();
  /// `parameters[i]` is the value of plan.parameters[i].
  bool importNodes(llvm::ArrayRef<mlir::Value> parameters);

  llvm::StringMap<ImportedValue> values;

private:
  void importNode(unsigned index, llvm::ArrayRef<mlir::Value> parameters);
  void evaluate(const Node &node, const Operator &op, llvm::ArrayRef<ImportedValue *> inputs);
  void import(unsigned index, const Operator &op, llvm::ArrayRef<ImportedValue *> inputs, mlir::Value bias);
  static bool unfolds(const Node &node, llvm::ArrayRef<ImportedValue *> inputs);
  std::string getKey(const Node &node, llvm::ArrayRef<ImportedValue *> inputs);

  const Model &model;
  const ParameterPlan &plan;
  mlir::OpBuilder &builder;
  Diagnostics &diagnostics;
  int64_t evaluatedElements = 0;
  /// Results by operator, attributes and inputs: a mask that every layer makes anew is computed once.
  llvm::StringMap<std::vector<std::shared_ptr<const ConstantTensor>>> evaluated;
};

} // namespace xlc::onnx

#endif
