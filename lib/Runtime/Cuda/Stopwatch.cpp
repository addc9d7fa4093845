// See Stopwatch.h.
#include "Stopwatch.h"

#include <random>
#include <vector>

namespace xlc::runtime::cuda {

void fillWithNumbers(const Driver &driver, Address begin, uint64_t bytes, Stream stream) {
  constexpr uint64_t block = uint64_t(1) << 20;
  std::mt19937 draws(1);
  std::vector<uint16_t> halves(block / 2);
  for (uint16_t &half : halves)
    half = (uint16_t)((draws() & 0x807f) | (120 + draws() % 7) << 7);
  for (uint64_t offset = 0; offset < bytes; offset += block)
    driver.check(driver.copyToDevice(begin + offset, halves.data(), std::min(block, bytes - offset), stream),
                 "cuMemcpyHtoDAsync");
  driver.check(driver.waitForStream(stream), "cuStreamSynchronize");
}

} // namespace xlc::runtime::cuda
