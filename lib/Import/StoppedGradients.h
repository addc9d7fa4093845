// Finds the stopped gradients of PyTorch (`detach`) in the exporter's record of its calls. See StoppedGradients.cpp.
#ifndef XLC_IMPORT_STOPPEDGRADIENTS_H
#define XLC_IMPORT_STOPPEDGRADIENTS_H

#include "MergedCalls.h"
#include "Parameters.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace xlc::onnx {

/// Whether a gradient would flow back into an input of a node.
enum class Flow { None, Gradient };

/// Finds the stopped inputs of nodes. Calls are examined in the order of the nodes.
class StoppedGradients {
public:
  StoppedGradients(const Model &model, const ParameterPlan &plan, FileDiagnostics &diagnostics);

  using FindFlow = llvm::function_ref<Flow(unsigned node, unsigned input)>;
  /// The stopped inputs of node `index`; reports an error if the file is ambiguous. `flow` is called for the inputs of
  /// all nodes that one call in PyTorch became.
  llvm::SmallVector<unsigned> findStopped(unsigned index, FindFlow flow);
  /// Warns of ambiguities in the file without evidence of a `detach` at the node itself.
  void warn() const;

private:
  struct Read {
    unsigned node, input;
  };
  void decide(const TracedCall &call, llvm::ArrayRef<unsigned> nodes, FindFlow flow);
  void decideByName(const TracedCall &call, llvm::ArrayRef<Read> reads, FindFlow flow);
  std::string findUnread(const TracedCall &call, llvm::ArrayRef<Read> reads, FindFlow flow) const;
  bool decideByPosition(const TracedCall &call, llvm::ArrayRef<unsigned> nodes, llvm::ArrayRef<Read> reads);
  void noteSuspects(const TracedCall &call, llvm::ArrayRef<Read> reads);
  bool isInFile(llvm::StringRef traced) const;
  bool isCalled(llvm::StringRef traced, Read read) const;
  bool isNamed(const TracedCall &call, Read read) const;
  bool isParameter(llvm::StringRef target, llvm::StringRef name) const;
  void stop(Read read) { stopped.insert({read.node, read.input}); }

  const Model &model;
  const ParameterPlan &plan;
  FileDiagnostics &diagnostics;
  llvm::StringMap<llvm::SmallVector<unsigned>> nodesOf; ///< by name of the call, without constants
  llvm::StringMap<unsigned> producers;                  ///< value -> node; what no node makes: the number of nodes
  llvm::StringMap<Read> readers;                        ///< value -> the first that reads it
  CallNames names;
  llvm::StringSet<> decided;
  std::set<std::pair<unsigned, unsigned>> stopped;
  std::vector<std::string> inRegions, suspects; ///< nodes
  bool isAllRegion = true;
};

/// Values that depend on a trained parameter through floats.
class ActiveValues {
public:
  bool contains(mlir::Value value);

private:
  llvm::DenseMap<mlir::Value, bool> known;
};

/// Freezes parameters on which the loss depends through stopped gradients only, as PyTorch's optimizers skip them.
void freezeUnreached(mlir::func::FuncOp forward, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
