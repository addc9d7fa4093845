// The parameters of the PyTorch model, and their uses in the file. See ParameterPlanner.cpp.
#ifndef XLC_IMPORT_PARAMETERS_H
#define XLC_IMPORT_PARAMETERS_H

#include "BatchNorms.h"
#include "DescribeNames.h"
#include "xlc/Spec/Spec.h"
#include <map>

namespace xlc::onnx {

/// Lines that report what was undone or concluded; none if `stream` is null.
struct Notes {
  llvm::raw_ostream *stream;

  Notes(llvm::raw_ostream *stream) : stream(stream) {}
  void operator()(const llvm::Twine &text) const {
    if (stream)
      *stream << text << "\n";
  }
};

/// An initial value that differs from the initializer's: float32, row-major, of the parameter's shape.
struct InitialValue {
  std::string file; ///< where `offset` is, or empty: then it is `bytes`
  uint64_t offset = 0;
  std::string bytes;
};

struct Parameter {
  std::string name;           ///< PyTorch's
  std::vector<int64_t> shape; ///< PyTorch's
  int initializer = -1;       ///< index in Model::initializers; -1: a bias of zeros that the file no longer has
  bool isTransposed = false;  ///< the file holds the transpose (two dimensions)
  Buffer buffer = Buffer::None;
  std::optional<InitialValue> value = std::nullopt; ///< none: the initializer's
  bool isFrozen = false;                            ///< PyTorch trains it not, as the file's record says
  std::string guess; ///< from what its name or being was concluded; empty where that leaves no doubt
};

/// The elements of a tensor in another order: its dimensions permuted, then another shape. Empty if nothing changes.
struct TensorView {
  std::vector<int64_t> permutation, shape;
  bool isWhole() const { return permutation.empty() && shape.empty(); }
  auto operator<=>(const TensorView &) const = default;
};

/// The operand of a node: a parameter, or a view of it.
struct ParameterUse {
  int parameter = 0;
  TensorView view;
  auto operator<=>(const ParameterUse &) const = default;
};

struct ParameterPlan {
  std::vector<Parameter> parameters; ///< in the order of the signature; without one, in the order of use; then buffers
  std::map<std::pair<unsigned, unsigned>, ParameterUse> uses; ///< (node, input) -> parameter
  std::map<unsigned, int> vanishedBiases;                     ///< node -> parameter to add to its result
  std::vector<Parameter> unread; ///< of a record: no node reads them, so that they are no part of the program
  std::vector<bool> isParameter; ///< per initializer; the others are constants

  /// A constant of floats that is not a buffer, and the nodes that read it.
  struct Constant {
    unsigned initializer;
    std::vector<unsigned> nodes;
  };
  std::vector<Constant> constants;
  std::vector<std::string> lost; ///< names of the signature that nothing reads, and that are tied to nothing

  /// Names that PyTorch had for one parameter, each with the one under which it is trained.
  std::vector<std::pair<std::string, std::string>> ties;

  /// The name under which a tied one is trained: it may be tied to one that is tied in turn.
  llvm::StringMap<std::string> resolveTies() const;
  /// Keeps these parameters, in this order; nothing uses the others.
  void keep(llvm::ArrayRef<int> order);
  /// Appends the running averages.
  void addBuffers(const Model &model, const BatchNorms &norms, FileDiagnostics &diagnostics);
  /// Finds `constants`. A constant operand of a node remains one, even if others read a parameter of that value.
  void findConstants(const Model &model, const BatchNorms &norms);
  /// Replaces uses of parameter `from` by `to`.
  void readInstead(int from, int to);
};

/// Plans the parameters: from the state dict of `spec.init`, from the file's record or, without both, by inference from
/// the file. Each change that is undone is a line on `notes` (may be null).
ParameterPlan planParameters(Model &model, const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics,
                             llvm::raw_ostream *notes);

/// The plan where the file has a record: its parameters, without a guess. See RecordedParameters.cpp.
ParameterPlan planRecorded(Model &model, const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics,
                           llvm::raw_ostream *notes);

/// Infers the parameters from signature, calls, scopes, values and `norms`; `spec.tie` and `spec.untie` take
/// precedence.
ParameterPlan inferParameters(Model &model, const BatchNorms &norms, const Spec &spec, FileDiagnostics &diagnostics,
                              llvm::raw_ostream *notes);

/// Warns of patterns of `trainable` that select nothing: such a name is misspelled, and the parameter that it should
/// exclude would be trained.
void checkTrainable(const Model &model, const ParameterPlan &plan, const Spec &spec, FileDiagnostics &diagnostics);

/// Reports a parameter whose element type xlc does not train.
bool checkStoredType(const FileTensor &tensor, FileDiagnostics &diagnostics);

} // namespace xlc::onnx

#endif
