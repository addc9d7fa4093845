// One allocation of device memory, for the lifetime of the device. It is mapped and not taken from cudaMalloc's pool:
// its size is that of the plan, rounded to the allocation granularity of the device, and it contains nothing else.
#ifndef XLC_LIB_RUNTIME_CUDA_ARENA_H
#define XLC_LIB_RUNTIME_CUDA_ARENA_H

#include "Driver.h"

namespace xlc::runtime::cuda {

/// Where memory can be mapped.
enum class Sharing {
  Private,   ///< by its device only
  Exportable ///< also by other processes and network adapters, as NCCL requires of registered memory
};

class Arena {
public:
  /// Throws std::bad_alloc, DeviceFailure.
  Arena(const Driver &driver, Ordinal device, uint64_t wanted, Sharing sharing = Sharing::Private);
  ~Arena();
  Arena(const Arena &) = delete;

  Address begin() const { return address; }
  uint64_t size() const { return bytes; } ///< the rounded size

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
