// Compares the values of a rank after a step with the expected ones: element by element, or by digests if the
// unpartitioned program is gone. Differences are added to the report, the first of each tensor in words.
#ifndef XLC_LIB_INTERPRET_VERIFY_COMPARISON_H
#define XLC_LIB_INTERPRET_VERIFY_COMPARISON_H

#include "../Ranks/Digest.h"
#include "xlc/Interpret/Verify.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace xlc::interpret {

/// Equal in the field; in floating point up to what two orders of summation and an optimizer step make of rounding.
inline bool isSame(Field a, Field b) { return a == b; }
inline bool isSame(int64_t a, int64_t b) { return a == b; }
template <class E> bool isSame(E a, E b) {
  E tolerance = std::is_same_v<E, float> ? 1e-3 : 1e-8;
  return a == b || std::abs(a - b) <= tolerance * std::max({E(1), std::abs(a), std::abs(b)});
}

/// Compares tensors one by one and counts them in a report. Of what differs the first element is put into words, or the
/// tensor where there are digests alone.
template <class E> class Comparison {
public:
  Comparison(const VerifyOptions &options, VerifyReport &report) : options(options), report(report) {}

  /// Compares a tensor that one rank holds with what it should be.
  void compare(int64_t step, int64_t rank, llvm::StringRef name, const Datum<E> &actual, const Datum<E> &wanted) {
    countTensor(name, std::visit([](auto &tensor) { return tensor.elements.size(); }, wanted));
    std::visit(
        [&](auto &tensor) {
          compareTensor(step, rank, name, std::get<std::decay_t<decltype(tensor)>>(actual), tensor);
        },
        wanted);
  }

  /// The same with the digest of what it should be.
  void compare(int64_t step, int64_t rank, llvm::StringRef name, const Datum<E> &actual, uint64_t wanted) {
    countTensor(name, std::visit([](auto &tensor) { return tensor.elements.size(); }, actual));
    if (digestOf<E>(actual) == wanted)
      return;
    report.differing += 1;
    note(llvm::formatv("step {0}, rank {1}: '{2}' differs from the expected value", step, rank, name));
  }

  /// Each value must be on some rank: pipeline stages hold different ones.
  template <class Map> void checkHeld(int64_t step, const Map &whole) {
    for (const auto &[name, value] : whole) {
      if (held.contains(name))
        continue;
      report.differing += 1;
      note(llvm::formatv("step {0}: no rank holds '{1}'", step, name));
    }
  }
  void endStep() { held.clear(); }

private:
  template <class T>
  void compareTensor(int64_t step, int64_t rank, llvm::StringRef name, const Tensor<T> &actual,
                     const Tensor<T> &expected) {
    bool isFirst = true;
    for (size_t i = 0; i < expected.elements.size(); ++i) {
      if (isSame(actual.elements[i], expected.elements[i]))
        continue;
      report.differing += 1;
      if (isFirst)
        note(llvm::formatv("step {0}, rank {1}: '{2}' element {3} is {4}, should be {5}", step, rank, name, i,
                           toString(actual.elements[i]), toString(expected.elements[i])));
      isFirst = false;
    }
  }

  void countTensor(llvm::StringRef name, size_t elements) {
    held.insert(name);
    if (!llvm::is_contained(report.names, name))
      report.names.push_back(name.str());
    report.tensors += 1;
    report.elements += elements;
  }

  void note(std::string difference) {
    if (report.differences.size() < options.maximalDifferences)
      report.differences.push_back(std::move(difference));
  }

  const VerifyOptions &options;
  VerifyReport &report;
  llvm::StringSet<> held; ///< in this step
};

} // namespace xlc::interpret

#endif
