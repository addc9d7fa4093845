// The fingerprint of a tensor. The random signs are a function of the element's position, so that neither the writer
// nor the reader of a file needs a table.
#include "xlc/Reference/Reference.h"
#include <cmath>

using namespace xlc;
using namespace xlc::reference;

namespace {

/// Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
uint64_t splitMix(uint64_t i) {
  uint64_t z = i + 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

template <class T> Fingerprint make(llvm::ArrayRef<T> elements) {
  Fingerprint made;
  double squares = 0;
  for (auto [i, element] : llvm::enumerate(elements)) {
    auto value = (double)element;
    squares += value * value;
    uint64_t bits = splitMix(i);
    for (size_t k = 0; k < made.projections.size(); ++k)
      made.projections[k] += bits >> k & 1 ? -value : value;
  }
  made.norm = std::sqrt(squares);
  return made;
}

} // namespace

Fingerprint reference::fingerprintOf(llvm::ArrayRef<float> elements) { return make(elements); }
Fingerprint reference::fingerprintOf(llvm::ArrayRef<double> elements) { return make(elements); }

double reference::estimateDistance(const Fingerprint &a, const Fingerprint &b) {
  double squares = 0;
  for (auto [x, y] : llvm::zip(a.projections, b.projections))
    squares += (x - y) * (x - y);
  return std::sqrt(squares / (double)a.projections.size());
}
