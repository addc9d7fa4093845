// What all fuzzers share: a claim that does not hold ends the run as a crash does, since nobody catches it, and the
// input is at a path, as readers want it, without a disk.
#ifndef XLC_TEST_FUZZ_TARGETS_REQUIRE_H
#define XLC_TEST_FUZZ_TARGETS_REQUIRE_H

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace xlc::fuzz {

inline void require(bool holds, const char *claim) {
  if (!holds)
    throw std::logic_error(claim);
}

/// Elements of a shape, or 2^63 where they are more.
inline uint64_t countElements(const std::vector<uint64_t> &shape) {
  constexpr uint64_t most = (uint64_t)1 << 63;
  __int128 elements = 1;
  for (uint64_t dim : shape)
    elements = std::min<__int128>(elements * dim, most);
  return std::count(shape.begin(), shape.end(), 0) ? 0 : (uint64_t)elements;
}

/// `size` bytes in a file that has a path and no folder.
class MemoryFile {
public:
  MemoryFile(const uint8_t *data, size_t size) : file(memfd_create("input", MFD_CLOEXEC)) {
    require(file >= 0 && write(file, data, size) == (ssize_t)size, "the input is in a file");
  }
  ~MemoryFile() { close(file); }
  MemoryFile(const MemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file); }

private:
  const int file;
};

} // namespace xlc::fuzz

#endif
