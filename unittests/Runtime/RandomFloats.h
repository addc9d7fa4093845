// Numbers for products: the same ones in every run.
#ifndef XLC_UNITTESTS_RUNTIME_RANDOMFLOATS_H
#define XLC_UNITTESTS_RUNTIME_RANDOMFLOATS_H

#include <cstdint>
#include <random>
#include <vector>

namespace xlc::test {

/// `count` numbers between -1 and 1, which the seed decides.
inline std::vector<float> randomFloats(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> result(count);
  for (float &value : result)
    value = values(random);
  return result;
}

} // namespace xlc::test

#endif
