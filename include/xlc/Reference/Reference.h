// PyTorch's results for a few rows, which `xlc_export` writes beside a model, and their comparison with those of xlc.
//
//   MODEL.reference.safetensors ─> Reference ─┐
//                                             ├─> Judgement: which gradients differ, where first, and the usual cause
//   one step of the compiled kernels ─> Observation ─┘
//
// A gradient is compared by its fingerprint: its norm and sixteen sums of its elements with fixed random signs. The
// root mean square of the differences of two tensors' sums is an unbiased estimate of the norm of the tensors'
// difference (Alon, Matias and Szegedy 1996, "The space complexity of approximating the frequency moments").
// docs/Export.md has the format.
#ifndef XLC_REFERENCE_REFERENCE_H
#define XLC_REFERENCE_REFERENCE_H

#include "xlc/Support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace xlc::reference {

struct Fingerprint {
  double norm = 0;
  std::array<double, 16> projections{};
};

/// The fingerprint of elements in row-major order: projection k is their sum, with element i negated if bit k of
/// splitmix64(i) is set.
Fingerprint fingerprintOf(llvm::ArrayRef<float> elements);
Fingerprint fingerprintOf(llvm::ArrayRef<double> elements);

/// An estimate of the norm of the difference of two tensors.
double estimateDistance(const Fingerprint &a, const Fingerprint &b);

/// Rows of an input, row-major; dimension 0 of `shape` is their number.
struct Input {
  std::vector<int64_t> shape;
  std::variant<std::vector<double>, std::vector<int64_t>> elements;
};

/// A gradient, or a buffer's next value: in float64 if PyTorch supports it, and the distance of the float32 value.
struct Expectation {
  std::string name;
  Fingerprint value;
  double float32Distance = 0;
  // NOLINTNEXTLINE(readability-redundant-member-init): without it, each aggregate has to initialize the member
  std::optional<Fingerprint> begin = {}; ///< of a buffer: its value before the step, if the file has it
};

struct Reference {
  std::string path;
  std::string torch; ///< its version
  int64_t rows = 0;
  std::map<std::string, Input> inputs;
  std::string labels; ///< the input used by a loss of the spec; empty: none
  double loss = 0, lossFloat32Distance = 0;
  std::vector<Expectation> parameters, buffers; ///< parameters: those with requires_grad, in PyTorch's order
  std::set<std::string> frozen;                 ///< parameters without requires_grad
  std::map<std::string, std::string> ties;      ///< a further name of a parameter, and its first
  std::string evaluator;                        ///< the evaluator that ran the file's forward; empty: none
  std::optional<double> evaluatedLoss;          ///< the loss computed by it
  std::vector<std::string> unmatched;           ///< arguments of the module without a matching input of the file
};

/// Reads and checks a file; none after a diagnostic.
std::optional<Reference> readReference(llvm::StringRef path, Diagnostics &diagnostics);

/// The result of one step for a parameter or a buffer.
struct Observed {
  enum class Kind { Trained, Frozen, Buffer } kind = Kind::Trained;
  std::string name, unit; ///< unit: of its first reader, "layer[0]"; empty: no reader
  Fingerprint value;      ///< of the gradient, or of a buffer's next value
  Fingerprint begin = {}; ///< of a buffer's value before the step
};

struct Observation {
  double loss = 0;
  std::vector<Observed> values; ///< in the order of their first readers in forward
};

/// Parts of the spec that take precedence over the reference.
struct Decisions {
  bool choosesTrainable = false; ///< `trainable` selects the trained parameters
  std::string valuesFrom;        ///< a file whose values replace the model's; empty: none
};

struct Judgement {
  size_t gradients = 0, averages = 0; ///< compared
  size_t moved = 0;               ///< running averages that start at other values than PyTorch's, and are not compared
  std::string headline;           ///< the difference; empty: there is none
  std::vector<std::string> notes; ///< place, kind, and the usual cause
  std::string obstacle;           ///< why nothing could be compared; empty if it could

  bool differs() const { return !headline.empty(); }
};

Judgement judge(const Reference &reference, const Observation &observation, const Decisions &decisions);

} // namespace xlc::reference

#endif
