// NCCL 2, loaded when a program with several ranks starts: the used functions and constants as of version 2.26. The
// constants are the same in all later versions.
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

/// The identifier by which ranks connect.
struct UniqueId {
  char bytes[128];
};

/// ncclConfig_t of version 2.26: a library reads only the part given by `size` and `version`.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 22600;
  int isBlocking = INT_MIN; ///< INT_MIN: the default of NCCL; the same for the following members
  int clusterSize = INT_MIN;
  int leastBlocks = INT_MIN, mostBlocks = INT_MIN;
  const char *network = nullptr;
  int sharesWithParent = INT_MIN; ///< the device resources of a split communicator
  int trafficClass = INT_MIN;
};
static_assert(std::has_unique_object_representations_v<Config>, "the library reads bytes that are not initialized");

constexpr int oldestVersion = 22600; ///< 2.26.0, the first that keeps calls of several communicators in one order
constexpr int noColour = -1;

struct Library {
  /// Throws Rejected if a function is missing, or the library is older than oldestVersion.
  explicit Library(const OpenedLibrary &library);

  /// "2.28.9"
  std::string version() const;
  /// Throws DeviceFailure, with the library's message, unless the status is Success.
  void check(Status status, const char *function) const;
  /// The calls in `calls` are one group: the library runs them at once, or none of them if one fails. Throws
  /// DeviceFailure.
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
  /// Registers memory, which calls then transfer without copies if the hardware can; `deregister` takes the returned
  /// value.
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
  int number = 0; ///< the number of the version
};

} // namespace xlc::runtime::nccl

#endif
