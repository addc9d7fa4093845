// Which parameters a call of PyTorch reads, as the new exporter notes it beside the nodes. See TracedParameters.cpp.
#ifndef XLC_IMPORT_TRACEDPARAMETERS_H
#define XLC_IMPORT_TRACEDPARAMETERS_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

namespace xlc::onnx {

/// What a value of PyTorch was that no call in the file makes.
enum class Missing {
  Nothing,  ///< all values are there
  Constant, ///< made of no parameter
  Moved,    ///< elements of another value, none of them changed
  Computed
};

class TracedParameters {
public:
  explicit TracedParameters(const Model &model);

  /// Whether the file has the exporter's notes at all; files that were cleaned of them have not.
  bool isPresent() const { return !calls.empty(); }
  /// Whether some call reads the parameter of this name. Of the names of a tie, calls have only one.
  bool isMentioned(llvm::StringRef name) const { return mentioned.contains(name); }
  /// The parameters that `call` reads, in the order of its arguments.
  llvm::SmallVector<llvm::StringRef> parametersOf(const TracedCall &call) const;
  /// The parameter that `call` takes as `role`: "weight" or "bias". Empty where it takes none; nothing where it is not
  /// known which arguments of the call have roles.
  std::optional<llvm::StringRef> findByRole(const TracedCall &call, llvm::StringRef role) const;
  /// Whether the weight of `call` has the shape of the operand that the node reads; weights of others are vectors where
  /// the node reads one with further dimensions of 1.
  static bool keepsShapeOfWeight(const TracedCall &call);
  /// What operand `input` of `node` was in PyTorch where no call in the file makes it, nor any input; and its name,
  /// where it is clear which one it was.
  Missing findMissing(const Node &node, unsigned input, std::string &name) const;
  /// The value of that kind ("layer_norm_1") where the file has `given` ("layer_norm") in its place; empty if none.
  llvm::StringRef findMerged(const TracedCall &call, llvm::StringRef given) const;
  /// The values that no call in the file makes, and that a call which is gone may have made of a parameter. Where there
  /// are none, PyTorch does not read a parameter that no call mentions, under that name.
  const llvm::StringSet<> &open() const { return missing; }
  /// The name of a parameter in calls: "p_fc_weight" for "fc.weight".
  llvm::StringRef placeholderOf(llvm::StringRef name) const { return placeholders.lookup(name); }

private:
  bool isMade(llvm::StringRef value) const;
  Missing classify(llvm::StringRef value) const;

  const Model &model;
  llvm::StringSet<> calls, inputs, mentioned, parameters, missing;
  llvm::StringMap<llvm::StringRef> placeholders;
};

/// "layer_norm" of "layer_norm_3".
llvm::StringRef kindOfValue(llvm::StringRef value);

/// Whether a constant was named after one that PyTorch made, of no parameter: "zeros_1".
bool isNamedAsConstant(llvm::StringRef name);

/// Whether a constant was named after a transposition in PyTorch: "permute_3", "t".
bool isNamedAsTranspose(llvm::StringRef name);

} // namespace xlc::onnx

#endif
