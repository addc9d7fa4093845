// PyTorch's name of a node's operand. See ParameterNames.cpp for the evidence.
#ifndef XLC_IMPORT_PARAMETERNAMES_H
#define XLC_IMPORT_PARAMETERNAMES_H

#include "TracedParameters.h"

namespace xlc::onnx {

/// An initializer that a node reads, or an `Identity` of one.
struct Read {
  unsigned node = 0, input = 0;
  std::string name;          ///< of the parameter; empty for a constant
  std::string tie;           ///< a further name of that parameter: what the node's module calls it
  std::string place;         ///< module or operator, and operand; without a signature only
  std::string guess;         ///< from what the name was concluded; empty where that leaves no doubt
  std::string merged;        ///< what PyTorch computed from others, of a parameter's values when the model was exported
  bool isNamed = false;      ///< the file says this name; else it was made up
  bool isAlias = false;      ///< read by an Identity, which the old exporter leaves where it merged
  bool isSibling = false;    ///< an alias whose name says that it is a parameter of its own
  bool isPassive = false;    ///< asks for the shape only, or for a setting of an operator
  bool isTransposed = false; ///< the node reads the transpose of the initializer
  bool isTraced = false;     ///< the call in PyTorch reads the parameter by this name
  bool isVector = false;     ///< the initializer is the vector with further dimensions of 1
  bool isComputed = false;   ///< no parameter, but perhaps computed from some when the model was exported
  bool mayBeComputed = false; ///< a weight without a name that no linear layer reads: perhaps computed from parameters
  unsigned position = 0;      ///< of the node that computes with it
};

class ParameterNames {
public:
  explicit ParameterNames(const Model &model);

  bool hasSignature() const { return !model.signature.parameters.empty(); }
  /// Position in the signature's list; the largest number for a name that is not there.
  unsigned rank(llvm::StringRef name) const;
  /// The reads of each initializer, in the order of the nodes.
  std::vector<std::vector<Read>> findReads() const;
  /// Whether the file keeps this initializer under PyTorch's name.
  bool isOwnName(llvm::StringRef name) const;
  /// Whether the signature lists the name, and no initializer has it.
  bool isLost(llvm::StringRef name) const { return order.contains(name) && !initializers.contains(name); }
  /// All names that PyTorch had according to the file: the signature's or, without one, those of initializers and of
  /// aliases.
  llvm::StringSet<> findKnown() const;
  /// Whether an initializer has the shape of the transpose of the one of this name.
  bool isTransposeOf(const FileTensor &tensor, llvm::StringRef name) const;

  const TracedParameters traced;

private:
  Read describe(unsigned node, unsigned input, const FileTensor &tensor) const;
  void findListed(const Node &node, unsigned input, const FileTensor &tensor, Read &read) const;
  void findTraced(const Node &node, unsigned input, const FileTensor &tensor, Read &read) const;
  void findInModule(const Node &node, unsigned input, const FileTensor &tensor, Read &read) const;
  void findUnlisted(unsigned node, unsigned input, const FileTensor &tensor, Read &read) const;
  bool mayBe(const FileTensor &tensor, llvm::StringRef name) const;
  std::string findTie(const Node &node, unsigned input, llvm::StringRef name) const;
  std::string compose(unsigned node, unsigned input) const;
  std::string nameByBias(const Node &node) const;
  void findContainers();
  void dropInstanceNorms(std::vector<std::vector<Read>> &reads) const;
  void followAliases();

  const Model &model;
  llvm::StringMap<unsigned> initializers;             ///< by name
  llvm::StringMap<unsigned> order;                    ///< of the signature's names
  llvm::StringMap<std::vector<std::string>> inModule; ///< the signature's names by module
  llvm::StringSet<> buffers;
  llvm::StringSet<> containers;                                ///< modules that do more than a linear layer
  llvm::StringMap<std::pair<unsigned, unsigned>> aliasReaders; ///< alias -> the first (node, input) that uses it
  std::vector<unsigned> numbers;                               ///< of the nodes that read initializers, per operator
  llvm::StringMap<std::string> addedBias;                      ///< value -> the bias that an Add adds to it
};

/// The name of a node's operand in PyTorch's modules: "weight", "bias", or nothing.
llvm::StringRef nameOperand(const Node &node, unsigned input);
/// Whether the operand is data, and the parameters are other operands.
bool isData(const Node &node, unsigned input);
/// Whether a name is one that exporters give to unnamed values: "val_152", "onnx::MatMul_1218", "1218".
bool isMadeUp(llvm::StringRef name);
/// Whether an operand that is added or multiplied is a vector with further dimensions of 1, such as [16, 1, 1].
bool isSpreadVector(const Node &node, const FileTensor &tensor);

/// "a.b" for module "a" and name "b", and the other way around.
std::string joinName(llvm::StringRef module, llvm::StringRef name);
std::pair<llvm::StringRef, llvm::StringRef> splitName(llvm::StringRef name);

/// Whether two names differ in a layer's number only, as those of layers that are copies of one another.
bool areSiblings(llvm::StringRef a, llvm::StringRef b);

/// Whether `other` is `name` with the number of a call after a module's name, as the old exporter names the second call
/// of a module: "a.proj_1.weight" beside "a.proj.weight". No module of PyTorch has that name.
bool isLaterCall(llvm::StringRef other, llvm::StringRef name);

} // namespace xlc::onnx

#endif
