// Between ReadModel and ReadNodes: the nodes of a file as one flat list.
#ifndef XLC_LIB_ONNX_READNODES_H
#define XLC_LIB_ONNX_READNODES_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace onnx {
class AttributeProto;
class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
} // namespace onnx

namespace xlc::onnx {

/// The versions of ONNX's own operators that xlc reads.
inline constexpr int64_t oldestOpset = 13, newestOpset = 21;

/// Reports an error unless `opset`, used by `who`, is among them.
bool checkOpset(int64_t opset, const llvm::Twine &who, FileDiagnostics &diagnostics);

/// Checks one attribute and adds it to `node`. `tensors` caches those already read, by their position in the file,
/// since a function's body is read once per call.
using TensorCache = std::map<const ::onnx::TensorProto *, std::shared_ptr<FileTensor>>;
void readAttribute(::onnx::AttributeProto &from, llvm::StringRef name, Node &node, llvm::StringRef modelPath,
                   TensorCache &tensors, FileDiagnostics &diagnostics);

/// A scope of names: the graph, the body of one call of a function, a branch of an `If`.
struct NameScope {
  const NameScope *outer = nullptr;     ///< whose names are visible, too; null for graph and function
  llvm::StringMap<std::string> names;   ///< -> name in the model
  llvm::StringMap<std::string> renamed; ///< results of a call: formal -> name in the model
  llvm::StringSet<> later;
  std::string prefix; ///< of names in the model
  std::string module; ///< of PyTorch, for nodes that name none
  int guard = -1, depth = 0;
  int64_t opset = 0;
  /// The arguments of the function's call; null outside of functions.
  const llvm::StringMap<::onnx::AttributeProto *> *arguments = nullptr;
};

/// Flattens: calls of functions become their bodies; an `If` becomes the guarded nodes of both branches and a node that
/// selects the result; a `SequenceMap` becomes its body for each tensor (ReadSequenceMap.cpp). Names of inner values
/// are prefixed with the name of the call.
class NodeReader {
public:
  NodeReader(Model &model, ::onnx::ModelProto &proto, FileDiagnostics &diagnostics);

  /// Records that `name` is defined in the graph.
  bool define(const std::string &name, const llvm::Twine &by) { return !define(graph, name, by).empty(); }
  bool isDefined(const std::string &name) const { return graph.names.contains(name); }
  void readGraph(::onnx::GraphProto &proto, int64_t opset);
  void readInitializer(NameScope &scope, ::onnx::TensorProto &tensor, int index);
  NameScope &graphScope() { return graph; }

private:
  template <typename Nodes> void readNodes(NameScope &scope, Nodes &nodes);
  void readNode(NameScope &scope, ::onnx::NodeProto &from);
  void readCall(NameScope &scope, const Node &call, ::onnx::NodeProto &from, ::onnx::FunctionProto &function);
  void bindResult(NameScope &scope, NameScope &body, const Node &call, const std::string &output,
                  const std::string &formal);
  /// False if the tensors of a list are not known; the node is then unchanged.
  bool readSequenceMap(NameScope &scope, Node &node, ::onnx::NodeProto &from);
  void readIf(NameScope &scope, Node node, ::onnx::NodeProto &from);
  bool readBranch(NameScope &scope, Node &node, ::onnx::GraphProto &branch, bool isThen);
  void readAttributes(NameScope &scope, ::onnx::NodeProto &from, Node &node);
  ::onnx::AttributeProto *findAttribute(const NameScope &scope, ::onnx::AttributeProto &attribute) const;
  bool enter(NameScope &inner, const NameScope &outer, const Node &node, llvm::StringRef word);
  std::string define(NameScope &scope, const std::string &name, const llvm::Twine &by);
  std::string resolve(const NameScope &scope, const std::string &name, const Node &node);
  bool spend(const NameScope &scope, const Node &node);

  Model &model;
  FileDiagnostics &diagnostics;
  NameScope graph;
  llvm::StringMap<::onnx::FunctionProto *> functions;
  llvm::StringSet<> active; ///< functions that are being inlined
  llvm::StringSet<> inner;  ///< names in the model that are not the graph's own
  TensorCache tensors;
  int64_t inlined = 0; ///< nodes, operands and attribute elements that inlining made
  bool isTooMuch = false;
};

} // namespace xlc::onnx

#endif
