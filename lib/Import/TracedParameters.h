// The parameters that a call of PyTorch reads, recorded by the new exporter with the nodes. See TracedParameters.cpp.
#ifndef XLC_IMPORT_TRACEDPARAMETERS_H
#define XLC_IMPORT_TRACEDPARAMETERS_H

#include "xlc/Onnx/Model.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

namespace xlc::onnx {

/// The origin of a value of PyTorch that no call in the file computes.
enum class Missing {
  Nothing,  ///< all values are there
  Constant, ///< made of no parameter
  Moved,    ///< elements of another value, none of them changed
  Computed
};

class TracedParameters {
public:
  explicit TracedParameters(const Model &model);

  /// Whether the file has the exporter's metadata at all; it may have been removed.
  bool isPresent() const { return !calls.empty(); }
  /// Whether some call reads the parameter of this name. Of the names of a tie, calls have only one.
  bool isMentioned(llvm::StringRef name) const { return mentioned.contains(name); }
  /// The parameters that `call` reads, in the order of its arguments.
  llvm::SmallVector<llvm::StringRef> parametersOf(const TracedCall &call) const;
  /// The parameter that `call` takes as `role`: "weight" or "bias". Empty if it takes none; none if the roles of the
  /// call's arguments are not known.
  std::optional<llvm::StringRef> findByRole(const TracedCall &call, llvm::StringRef role) const;
  /// Whether the weight of `call` has the shape of the operand that the node reads. The weights of other calls are
  /// vectors, of which the node reads a vector with further dimensions of 1.
  static bool keepsShapeOfWeight(const TracedCall &call);
  /// The origin of operand `input` of `node` in PyTorch if no call in the file computes it, and it is not an input; and
  /// its name, if that is unambiguous.
  Missing findMissing(const Node &node, unsigned input, std::string &name) const;
  /// The value of that kind ("layer_norm_1") for which the file has `given` ("layer_norm") instead; empty if none.
  llvm::StringRef findMerged(const TracedCall &call, llvm::StringRef given) const;
  /// The values that no call in the file computes, and that a missing call may have computed from a parameter. If there
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

/// Whether a constant was named after one that PyTorch created from no parameter: "zeros_1".
bool isNamedAsConstant(llvm::StringRef name);

/// Whether a constant was named after a transposition in PyTorch: "permute_3", "t".
bool isNamedAsTranspose(llvm::StringRef name);

} // namespace xlc::onnx

#endif
