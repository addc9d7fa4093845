// Our declarations of NVIDIA's libraries beside NVIDIA's own headers, and the names of their functions. Built where
// scripts/setup --cuda has brought the headers.
#include "Cuda/Driver.h"

#include <cuda.h>

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <type_traits>

using namespace xlc::runtime::cuda;

namespace {

/// Functions that a caller cannot tell apart: parameters and results of equal sizes, pointers where the other has pointers.
template <class Ours, class Theirs> struct AreAlike : std::false_type {};
template <class R1, class... A1, class R2, class... A2>
  requires(sizeof...(A1) == sizeof...(A2))
struct AreAlike<R1 (*)(A1...), R2 (*)(A2...)>
    : std::bool_constant<sizeof(R1) == sizeof(R2) &&
                         ((sizeof(A1) == sizeof(A2) && std::is_pointer_v<A1> == std::is_pointer_v<A2>) && ...)> {};

#define XLC_SAME_FUNCTION(ours, theirs)                                                                                \
  static_assert(AreAlike<decltype(Driver::ours), decltype(&theirs)>::value, #theirs)

XLC_SAME_FUNCTION(initialize, cuInit);
XLC_SAME_FUNCTION(getVersion, cuDriverGetVersion);
XLC_SAME_FUNCTION(getCount, cuDeviceGetCount);
XLC_SAME_FUNCTION(getDevice, cuDeviceGet);
XLC_SAME_FUNCTION(getName, cuDeviceGetName);
XLC_SAME_FUNCTION(getAttribute, cuDeviceGetAttribute);
XLC_SAME_FUNCTION(retainContext, cuDevicePrimaryCtxRetain);
XLC_SAME_FUNCTION(releaseContext, cuDevicePrimaryCtxRelease);
XLC_SAME_FUNCTION(setContext, cuCtxSetCurrent);
XLC_SAME_FUNCTION(getMemory, cuMemGetInfo);
XLC_SAME_FUNCTION(getGranularity, cuMemGetAllocationGranularity);
XLC_SAME_FUNCTION(reserve, cuMemAddressReserve);
XLC_SAME_FUNCTION(unreserve, cuMemAddressFree);
XLC_SAME_FUNCTION(create, cuMemCreate);
XLC_SAME_FUNCTION(release, cuMemRelease);
XLC_SAME_FUNCTION(map, cuMemMap);
XLC_SAME_FUNCTION(unmap, cuMemUnmap);
XLC_SAME_FUNCTION(setAccess, cuMemSetAccess);
XLC_SAME_FUNCTION(allocateHost, cuMemHostAlloc);
XLC_SAME_FUNCTION(freeHost, cuMemFreeHost);
XLC_SAME_FUNCTION(copyToDevice, cuMemcpyHtoDAsync);
XLC_SAME_FUNCTION(copyToHost, cuMemcpyDtoHAsync);
XLC_SAME_FUNCTION(copyOnDevice, cuMemcpyDtoDAsync);
XLC_SAME_FUNCTION(fill, cuMemsetD8Async);
XLC_SAME_FUNCTION(getPriorities, cuCtxGetStreamPriorityRange);
XLC_SAME_FUNCTION(createStream, cuStreamCreateWithPriority);
XLC_SAME_FUNCTION(destroyStream, cuStreamDestroy);
XLC_SAME_FUNCTION(waitForStream, cuStreamSynchronize);
XLC_SAME_FUNCTION(letStreamWait, cuStreamWaitEvent);
XLC_SAME_FUNCTION(createEvent, cuEventCreate);
XLC_SAME_FUNCTION(destroyEvent, cuEventDestroy);
XLC_SAME_FUNCTION(record, cuEventRecord);
XLC_SAME_FUNCTION(queryEvent, cuEventQuery);
XLC_SAME_FUNCTION(getElapsedTime, cuEventElapsedTime);
XLC_SAME_FUNCTION(waitForEvent, cuEventSynchronize);
XLC_SAME_FUNCTION(beginCapture, cuStreamBeginCapture);
XLC_SAME_FUNCTION(endCapture, cuStreamEndCapture);
XLC_SAME_FUNCTION(instantiate, cuGraphInstantiateWithFlags);
XLC_SAME_FUNCTION(upload, cuGraphUpload);
XLC_SAME_FUNCTION(destroyGraph, cuGraphDestroy);
XLC_SAME_FUNCTION(destroyLaunchable, cuGraphExecDestroy);
XLC_SAME_FUNCTION(launchGraph, cuGraphLaunch);
XLC_SAME_FUNCTION(load, cuLibraryLoadData);
XLC_SAME_FUNCTION(unload, cuLibraryUnload);
XLC_SAME_FUNCTION(getKernel, cuLibraryGetKernel);
XLC_SAME_FUNCTION(launch, cuLaunchKernel);

static_assert(success == CUDA_SUCCESS && outOfMemory == CUDA_ERROR_OUT_OF_MEMORY && notReady == CUDA_ERROR_NOT_READY);
static_assert(capabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              capabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(jitErrorLog == CU_JIT_ERROR_LOG_BUFFER && jitErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(withPriorities == CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
static_assert(nonBlocking == CU_STREAM_NON_BLOCKING && withTiming == CU_EVENT_DEFAULT &&
              withoutTiming == CU_EVENT_DISABLE_TIMING);
static_assert(captureOfThread == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(recommendedGranularity == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);

static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp) &&
              offsetof(AllocationProperties, type) == offsetof(CUmemAllocationProp, type) &&
              offsetof(AllocationProperties, location) == offsetof(CUmemAllocationProp, location) &&
              offsetof(AllocationProperties, handleTypes) == offsetof(CUmemAllocationProp, requestedHandleTypes) &&
              offsetof(AllocationProperties, networkReads) ==
                  offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
static_assert(fileHandle == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && fabricHandle == CU_MEM_HANDLE_TYPE_FABRIC);
static_assert(networkReadsMemory == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED &&
              hasFabricHandles == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
static_assert(invalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(AllocationProperties().type == CU_MEM_ALLOCATION_TYPE_PINNED &&
              Location().type == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(sizeof(Location) == sizeof(CUmemLocation) && offsetof(Location, device) == offsetof(CUmemLocation, id));
static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc) &&
              offsetof(AccessDescription, access) == offsetof(CUmemAccessDesc, flags) &&
              AccessDescription().access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

std::string read(const char *path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The header says by which names its macros mean their functions: cuMemGetInfo is cuMemGetInfo_v2. Drivers of CUDA 12.0 have no
/// second version of what is older.
TEST(RealHeaders, FunctionsHaveTheNamesThatTheHeaderMeans) {
  std::string header = read(XLC_CUDA_HEADER), ours = read(XLC_DRIVER_SOURCE);
  std::regex quoted("\"(cu[A-Z]\\w+)\"");
  const std::set<std::string> older{"cuEventElapsedTime"};
  size_t count = 0;
  for (std::sregex_iterator found(ours.begin(), ours.end(), quoted), end; found != end; ++found, ++count) {
    std::string name = (*found)[1], plain = std::regex_replace(name, std::regex("_v\\d$"), "");
    std::smatch meant;
    std::regex macro("#define +" + plain + " +(?:__CUDA_API_PTSZ\\()?(" + plain + "_v\\d)");
    bool isMacro = std::regex_search(header, meant, macro);
    EXPECT_EQ(isMacro && !older.contains(name) ? meant[1].str() : plain, name);
    bool isDeclared = header.find(" " + plain + "(") != std::string::npos;
    EXPECT_TRUE(isDeclared || std::regex_search(header, std::regex("#define +cu[A-Z]\\w+ +" + plain + "\n"))) << plain;
  }
  EXPECT_GE(count, 36u);
}

} // namespace
