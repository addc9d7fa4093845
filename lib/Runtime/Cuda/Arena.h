// One piece of a device's memory, for the life of the device. It is mapped and not taken from cudaMalloc's pool: its size is
// that of the plan, rounded to what the device allocates in, and nothing else lies in it.
#ifndef XLC_LIB_RUNTIME_CUDA_ARENA_H
#define XLC_LIB_RUNTIME_CUDA_ARENA_H

#include "Driver.h"

namespace xlc::runtime::cuda {

/// Who can map memory.
enum class Sharing {
  Private, ///< its device
  Exportable ///< other processes and the network's adapters too: what NCCL's documentation asks of memory that is registered with it
};

class Arena {
public:
  /// Throws std::bad_alloc, DeviceFailure.
  Arena(const Driver &driver, Ordinal device, uint64_t wanted, Sharing sharing = Sharing::Private);
  ~Arena();
  Arena(const Arena &) = delete;

  Address begin() const { return address; }
  uint64_t size() const { return bytes; } ///< rounded

private:
  Status create(AllocationProperties properties);
  void free();

  const Driver &driver;
  uint64_t bytes = 0;
  Address address = 0;
  Allocation allocation = 0;
  bool isCreated = false, isMapped = false;
};

} // namespace xlc::runtime::cuda

#endif
