// The memory of one rank: one allocation, counted where it is made, touched once.
#ifndef XLC_LIB_RUNTIME_CPU_ARENA_H
#define XLC_LIB_RUNTIME_CPU_ARENA_H

#include "Device/Device.h"

namespace xlc::runtime {

class Arena {
public:
  /// Maps `bytes` readable and writable bytes at a multiple of `alignment`, huge pages where the system gives them,
  /// and adds what was mapped to `counted`. Throws std::bad_alloc.
  Arena(uint64_t bytes, uint64_t alignment, uint64_t &counted);
  /// The same in a file that other processes map, where that is mapped already; it stays so.
  Arena(const SharedPlace &place, uint64_t bytes, uint64_t &counted);
  ~Arena();
  Arena(const Arena &) = delete;

  /// Writes `value` to every byte, which also brings every page in.
  void fill(unsigned char value);

  char *data() const { return begin; }
  uint64_t size() const { return bytes; }

private:
  char *reserved = nullptr, *begin;
  uint64_t bytes, reservedBytes = 0;
};

} // namespace xlc::runtime

#endif
