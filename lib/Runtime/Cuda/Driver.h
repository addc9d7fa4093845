// NVIDIA's driver, loaded when the program starts: programs are built and linked without any file of NVIDIA. The
// declarations are the driver's C interface as of CUDA 12.0, by the names that its library exports.
#ifndef XLC_LIB_RUNTIME_CUDA_DRIVER_H
#define XLC_LIB_RUNTIME_CUDA_DRIVER_H

#include "Failure.h"
#include "OpenLibrary.h"

#include <cstddef>
#include <cstdint>

namespace xlc::runtime::cuda {

using Status = int;
using Ordinal = int;
using Address = unsigned long long;
using Context = struct CUctx_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;
using Milliseconds = float;
using Library = struct CUlib_st *;
using Function = struct CUkern_st *; ///< cuLaunchKernel accepts a CUkernel as its CUfunction
using Allocation = unsigned long long;
using Graph = struct CUgraph_st *;
using LaunchableGraph = struct CUgraphExec_st *; ///< CUgraphExec

constexpr Status success = 0, invalidValue = 1, outOfMemory = 2, notReady = 600;

/// Attributes of cuDeviceGetAttribute.
constexpr int capabilityMajor = 75, capabilityMinor = 76;
constexpr int networkReadsMemory = 110; ///< CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
constexpr int hasFabricHandles = 128;   ///< CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, since CUDA 12.3

/// Options of cuLibraryLoadData: the buffer for the driver's errors in a PTX.
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6;

struct Location {
  int type = 1; ///< CU_MEM_LOCATION_TYPE_DEVICE
  Ordinal device = 0;
};
struct AllocationProperties {
  int type = 1;        ///< CU_MEM_ALLOCATION_TYPE_PINNED
  int handleTypes = 0; ///< the handles by which other processes can map it
  Location location;
  void *metaData = nullptr;
  unsigned char compression = 0, networkReads = 0, rest[6] = {};
};
constexpr int fileHandle = 1, fabricHandle = 8; ///< CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, _FABRIC
struct AccessDescription {
  Location location;
  int access = 3; ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};

/// The UUID of a device, or of a part of one that is used as a device (MIG).
struct Uuid {
  unsigned char bytes[16];
  bool operator==(const Uuid &) const = default;
};

constexpr unsigned nonBlocking = 1;                   ///< a flag of streams
constexpr unsigned withTiming = 0, withoutTiming = 2; ///< flags of events
constexpr int recommendedGranularity = 1;             ///< an option of allocations
constexpr unsigned long long withPriorities = 8; ///< a flag of graphs: kernels have the priorities of their streams
/// The mode of captures: the thread that begins a capture must not make calls that cannot be captured; other threads
/// may.
constexpr int captureOfThread = 1;

struct Driver {
  /// Opens the driver; with `folder`, only from there. Throws Rejected, with advice on its installation, if that fails
  /// or the driver is too old.
  explicit Driver(const std::string &folder);

  /// The text for the status of a call: "out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
  std::string describe(Status status) const;
  /// Throws DeviceFailure.
  void check(Status status, const char *function) const;

  /// Finds a kernel of a program's code. Throws DeviceFailure.
  Function findKernel(Library code, const std::string &name) const;
  /// Enqueues `blocks` blocks of `threads` threads on the stream; with no blocks, does nothing. Throws DeviceFailure.
  void launchBlocks(Function kernel, int64_t blocks, unsigned threads, void **parameters, Stream stream) const;

  Status (*initialize)(unsigned flags);
  Status (*getVersion)(int *);
  Status (*getCount)(int *);
  Status (*getDevice)(Ordinal *, int number);
  Status (*getName)(char *, int, Ordinal);
  Status (*getAttribute)(int *, int attribute, Ordinal);
  Status (*getUuid)(Uuid *, Ordinal);
  Status (*retainContext)(Context *, Ordinal);
  Status (*releaseContext)(Ordinal);
  Status (*setContext)(Context);
  Status (*getMemory)(size_t *free, size_t *total);

  Status (*getGranularity)(size_t *, const AllocationProperties *, int kind);
  Status (*reserve)(Address *, size_t bytes, size_t alignment, Address wish, unsigned long long flags);
  Status (*unreserve)(Address, size_t);
  Status (*create)(Allocation *, size_t, const AllocationProperties *, unsigned long long flags);
  Status (*release)(Allocation);
  Status (*map)(Address, size_t bytes, size_t offset, Allocation, unsigned long long flags);
  Status (*unmap)(Address, size_t);
  Status (*setAccess)(Address, size_t, const AccessDescription *, size_t count);
  Status (*allocateHost)(void **, size_t, unsigned flags);
  Status (*freeHost)(void *);

  Status (*copyToDevice)(Address, const void *, size_t, Stream);
  Status (*copyToHost)(void *, Address, size_t, Stream);
  Status (*copyOnDevice)(Address, Address, size_t, Stream);
  Status (*fill)(Address, unsigned char, size_t, Stream);

  Status (*getPriorities)(int *least, int *most); ///< smaller numbers are more urgent
  Status (*createStream)(Stream *, unsigned flags, int priority);
  Status (*destroyStream)(Stream);
  Status (*waitForStream)(Stream);
  Status (*letStreamWait)(Stream, Event, unsigned flags);
  Status (*createEvent)(Event *, unsigned flags);
  Status (*destroyEvent)(Event);
  Status (*record)(Event, Stream);
  Status (*queryEvent)(Event);
  Status (*waitForEvent)(Event);
  Status (*getElapsedTime)(Milliseconds *, Event from, Event to);

  Status (*beginCapture)(Stream, int mode);
  Status (*endCapture)(Stream, Graph *);
  Status (*instantiate)(LaunchableGraph *, Graph, unsigned long long flags);
  Status (*upload)(LaunchableGraph, Stream);
  Status (*destroyGraph)(Graph);
  Status (*destroyLaunchable)(LaunchableGraph);
  Status (*launchGraph)(LaunchableGraph, Stream);

  Status (*load)(Library *, const void *code, void *, void **, unsigned, void *, void **, unsigned);
  Status (*unload)(Library);
  Status (*getKernel)(Function *, Library, const char *name);
  Status (*getFunction)(Function *, Function kernel); ///< in the current context, into which it is loaded
  Status (*launch)(Function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, Stream, void **parameters, void **extra);

private:
  Status (*nameError)(Status, const char **);
  Status (*explainError)(Status, const char **);
  OpenedLibrary library;
};

} // namespace xlc::runtime::cuda

#endif
