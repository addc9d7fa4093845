// The memory of one rank: one allocation, which is counted at its creation and touched once.
#ifndef XLC_LIB_RUNTIME_CPU_ARENA_H
#define XLC_LIB_RUNTIME_CPU_ARENA_H

#include "Device/Device.h"

namespace xlc::runtime {

class Arena {
public:
  /// Maps `bytes` readable and writable bytes at a multiple of `alignment`, with huge pages if the system provides
  /// them, and adds the mapped size to `counted`. Throws std::bad_alloc.
  Arena(uint64_t bytes, uint64_t alignment, uint64_t &counted);
  /// The same in a file that other processes map, at a place that is already mapped and remains so.
  Arena(const SharedPlace &place, uint64_t bytes, uint64_t &counted);
  ~Arena();
  Arena(const Arena &) = delete;

  /// Writes `value` to every byte, which also makes every page resident.
  void fill(unsigned char value);

  char *data() const { return begin; }
  uint64_t size() const { return bytes; }

private:
  char *reserved = nullptr, *begin;
  uint64_t bytes, reservedBytes = 0;
};

} // namespace xlc::runtime

#endif
