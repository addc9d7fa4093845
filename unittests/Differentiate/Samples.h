// Samples by which every row of the gradient table is checked.
#ifndef XLC_UNITTESTS_DIFFERENTIATE_SAMPLES_H
#define XLC_UNITTESTS_DIFFERENTIATE_SAMPLES_H

#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace xlc {

/// A function of float arguments %0, %1, ... whose types are given; `body` defines %y of type `result`.
/// Arguments are drawn from [low, high): away from where the op is not differentiable.
struct GradientSample {
  std::string op;
  std::vector<std::string> arguments;
  std::string body;
  std::string result;
  double low = -1, high = 1;
};

llvm::ArrayRef<GradientSample> getGradientSamples();

} // namespace xlc

#endif
