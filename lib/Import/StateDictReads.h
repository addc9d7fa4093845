// Finds the entry of a state dict that each node reads. See StateDictReads.cpp.
#ifndef XLC_IMPORT_STATEDICTREADS_H
#define XLC_IMPORT_STATEDICTREADS_H

#include "StateDictMatch.h"

namespace xlc::onnx {

/// The evidence for one read of an initializer, and its entry.
struct StateRead {
  unsigned node = 0, input = 0, initializer = 0;
  unsigned user = 0; ///< the node that computes with it, behind Identities
  std::string name;  ///< of the initializer, or of the Identity that stands for one that was merged
  int own = -1;      ///< the entry that has this name
  int traced = -1;   ///< the entry that the call in PyTorch read here
  bool isAlias = false;
  int entry = -1;  ///< the answer; -1: a constant
  TensorView view; ///< of the entry
};

class StateDictReads {
public:
  StateDictReads(const Model &model, const ParameterNames &names, StateDictMatch &match, const BatchNorms &norms)
      : model(model), names(names), match(match), norms(norms) {}

  /// Decides every read. An undecidable read is a line of `undecided`.
  std::vector<StateRead> find();
  std::vector<std::string> undecided;

private:
  enum class Answer { Constant, Found, Later, Undecided };
  std::vector<StateRead> collect();
  Answer decide(StateRead &read);
  Answer decideLate(StateRead &read);
  Answer take(StateRead &read, int entry);
  Answer take(StateRead &read, int entry, const TensorView &view);
  std::optional<Answer> choose(llvm::ArrayRef<int> entries, StateRead &read);
  bool mayBeConstant(const StateRead &read) const;
  std::vector<int> candidates(const StateRead &read);
  std::optional<int> single(llvm::ArrayRef<int> entries, const StateRead &read);
  bool isElsewhere(int entry, const StateRead &read);
  std::string describe(const StateRead &read, llvm::ArrayRef<int> entries);

  const Model &model;
  const ParameterNames &names;
  StateDictMatch &match;
  const BatchNorms &norms;
  std::vector<bool> isRead;       ///< per entry that is a parameter
  std::vector<bool> hasAlias;     ///< per entry: an Identity's result has its name
  std::vector<unsigned> numReads; ///< per initializer
};

} // namespace xlc::onnx

#endif
