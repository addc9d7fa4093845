// What PyTorch makes of a few rows, as `xlc_export` writes it beside a model, and the comparison with what xlc makes of them.
//
//   MODEL.reference.safetensors ─> Reference ─┐
//                                             ├─> Judgement: which gradients differ, where first, and the usual cause
//   one step of the compiled kernels ─> Observation ─┘
//
// A gradient is compared by its fingerprint: its norm and sixteen sums of its elements with fixed random signs. The root of the
// mean square of the differences of two tensors' sums is an estimate of the norm of the tensors' difference, without bias
// (Alon, Matias and Szegedy 1996, "The space complexity of approximating the frequency moments"). docs/Export.md has the format.
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

/// Of elements in row-major order: projection k is the sum of them, element i negated where bit k of splitmix64(i) is set.
Fingerprint fingerprintOf(llvm::ArrayRef<float> elements);
Fingerprint fingerprintOf(llvm::ArrayRef<double> elements);

/// An estimate of the norm of the difference of two tensors.
double estimateDistance(const Fingerprint &a, const Fingerprint &b);

/// Rows of an input, row-major; dimension 0 of `shape` is their number.
struct Input {
  std::vector<int64_t> shape;
  std::variant<std::vector<double>, std::vector<int64_t>> elements;
};

/// A gradient, or a buffer's next value: in float64 where PyTorch can, and how far float32 is from that.
struct Expectation {
  std::string name;
  Fingerprint value;
  double float32Distance = 0;
  std::optional<Fingerprint> begin = {}; ///< of a buffer: its value before the step, where the file has it
};

struct Reference {
  std::string path;
  std::string torch; ///< its version
  int64_t rows = 0;
  std::map<std::string, Input> inputs;
  std::string labels; ///< the input that a loss of the spec takes; empty: none
  double loss = 0, lossFloat32Distance = 0;
  std::vector<Expectation> parameters, buffers; ///< parameters: those with requires_grad, in PyTorch's order
  std::set<std::string> frozen;                 ///< parameters without requires_grad
  std::map<std::string, std::string> ties;      ///< a further name of a parameter, and its first
  std::string evaluator;                        ///< that has run the file's forward; empty: none has
  std::optional<double> evaluatedLoss;          ///< by it
  std::vector<std::string> unmatched;           ///< arguments of the module that no input of the file stands for
};

/// Reads and checks a file; none after a diagnostic.
std::optional<Reference> readReference(llvm::StringRef path, Diagnostics &diagnostics);

/// What one step made of a parameter or a buffer.
struct Observed {
  enum class Kind { Trained, Frozen, Buffer } kind = Kind::Trained;
  std::string name, unit; ///< unit: of its first reader, "layer[0]"; empty: nothing reads it
  Fingerprint value;      ///< of the gradient, or of a buffer's next value
  Fingerprint begin = {}; ///< of a buffer's value before the step
};

struct Observation {
  double loss = 0;
  std::vector<Observed> values; ///< in the order of their first readers in forward
};

/// Parts of the spec that take precedence over the reference.
struct Decisions {
  bool choosesTrainable = false; ///< `trainable` says what is trained
  std::string valuesFrom;        ///< a file whose values stand in place of the model's; empty: none does
};

struct Judgement {
  size_t gradients = 0, averages = 0; ///< compared
  size_t moved = 0;               ///< running averages that begin at other values than PyTorch's, and are not compared
  std::string headline;           ///< what differs; empty: nothing does
  std::vector<std::string> notes; ///< where, how, and the usual cause
  std::string obstacle;           ///< why nothing could be compared; empty: it could

  bool differs() const { return !headline.empty(); }
};

Judgement judge(const Reference &reference, const Observation &observation, const Decisions &decisions);

} // namespace xlc::reference

#endif
