// Writes the attributes of all arguments and results of a function at once. Written one at a time, each would create a
// new array of all of them that lives as long as the context: a function of 10,000 arguments would cost gigabytes.
#ifndef XLC_DIALECT_GRAPH_SIGNATUREATTRIBUTES_H
#define XLC_DIALECT_GRAPH_SIGNATUREATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xlc::graph {

/// Collects attributes to add to a function's signature, and writes them in its destructor. Until then the function has
/// its old attributes, and neither it nor its signature may change.
class SignatureAttributes {
public:
  explicit SignatureAttributes(mlir::func::FuncOp function)
      : function(function), arguments(function.getNumArguments()), results(function.getNumResults()) {}
  SignatureAttributes(const SignatureAttributes &) = delete;
  ~SignatureAttributes() { write(); }

  void setArgument(unsigned number, llvm::StringRef name, mlir::Attribute value) {
    arguments[number].emplace_back(name, value);
  }
  void setResult(unsigned number, llvm::StringRef name, mlir::Attribute value) {
    results[number].emplace_back(name, value);
  }

private:
  using Added = std::vector<llvm::SmallVector<std::pair<llvm::StringRef, mlir::Attribute>, 1>>;

  mlir::DictionaryAttr join(mlir::DictionaryAttr known, const Added::value_type &added) {
    mlir::NamedAttrList all(known);
    for (auto [name, value] : added)
      all.set(name, value);
    return all.getDictionary(function.getContext());
  }

  void write() {
    auto isEmpty = [](const auto &added) { return added.empty(); };
    llvm::SmallVector<mlir::DictionaryAttr> joined;
    if (!llvm::all_of(arguments, isEmpty)) {
      for (auto [number, added] : llvm::enumerate(arguments))
        joined.push_back(join(function.getArgAttrDict(number), added));
      function.setAllArgAttrs(joined);
    }
    joined.clear();
    if (!llvm::all_of(results, isEmpty)) {
      for (auto [number, added] : llvm::enumerate(results))
        joined.push_back(join(function.getResultAttrDict(number), added));
      function.setAllResultAttrs(joined);
    }
  }

  mlir::func::FuncOp function;
  Added arguments, results;
};

} // namespace xlc::graph

#endif
