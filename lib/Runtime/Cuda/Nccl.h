// NCCL 2, opened when a program of several ranks starts: its functions and numbers as of version 2.26, as far as they are used.
// The numbers are the same in all later versions.
#ifndef XLC_LIB_RUNTIME_CUDA_NCCL_H
#define XLC_LIB_RUNTIME_CUDA_NCCL_H

#include "OpenLibrary.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace xlc::runtime::nccl {

using Handle = struct ncclComm *;

enum class Status : int {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7
};

enum class DataType : int { I8 = 0, I32 = 2, I64 = 4, F16 = 6, F32 = 7, F64 = 8, BF16 = 9 };
enum class Reduction : int { Sum = 0, Max = 2 };

/// What ranks find each other with.
struct UniqueId {
  char bytes[128];
};

/// ncclConfig_t of version 2.26: a library looks at as much as `size` and `version` say.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 22600;
  int isBlocking = INT_MIN; ///< INT_MIN: as NCCL likes; so are the following
  int clusterSize = INT_MIN;
  int leastBlocks = INT_MIN, mostBlocks = INT_MIN;
  const char *network = nullptr;
  int sharesWithParent = INT_MIN; ///< what a communicator that is split off has on the device
  int trafficClass = INT_MIN;
};
static_assert(std::has_unique_object_representations_v<Config>, "the library reads bytes that are not initialized");

constexpr int oldestVersion = 22600; ///< 2.26.0, the first that keeps calls of several communicators in one order
constexpr int noColour = -1;

struct Library {
  /// Throws Rejected where a function is missing, or it is older than oldestVersion.
  explicit Library(const OpenedLibrary &library);

  /// "2.28.9"
  std::string version() const;
  /// Throws DeviceFailure for all but Success, with what the library says.
  void check(Status status, const char *function) const;
  /// What `calls` calls is one group: the library does it at once, or nothing of it where one fails. Throws DeviceFailure.
  template <class Calls> void group(Calls calls) const {
    check(beginGroup(), "ncclGroupStart");
    try {
      calls();
    } catch (...) {
      endGroup(); // who goes on begins another; communicators would be given up with it
      throw;
    }
    check(endGroup(), "ncclGroupEnd");
  }

  Status (*getVersion)(int *);
  const char *(*describe)(Status) = nullptr;
  const char *(*lastError)(Handle) = nullptr;
  Status (*makeId)(UniqueId *);
  Status (*join)(Handle *, int ranks, UniqueId, int rank, Config *);
  Status (*split)(Handle, int colour, int key, Handle *, Config *);
  Status (*destroy)(Handle);
  Status (*abort)(Handle);
  Status (*getAsyncError)(Handle, Status *);
  /// Memory that calls are to move without copies where the hardware can; what it gives is for `deregister`.
  Status (*registerMemory)(Handle, void *begin, size_t bytes, void **registration);
  Status (*deregister)(Handle, void *registration);
  Status (*beginGroup)();
  Status (*endGroup)();
  Status (*allReduce)(const void *, void *, size_t count, DataType, Reduction, Handle, void *stream);
  Status (*allGather)(const void *, void *, size_t countOfRank, DataType, Handle, void *stream);
  Status (*reduceScatter)(const void *, void *, size_t countOfRank, DataType, Reduction, Handle, void *stream);
  Status (*send)(const void *, size_t count, DataType, int peer, Handle, void *stream);
  Status (*receive)(void *, size_t count, DataType, int peer, Handle, void *stream);

private:
  int number = 0; ///< of the version
};

} // namespace xlc::runtime::nccl

#endif
