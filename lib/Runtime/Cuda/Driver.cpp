// See Driver.h.
#include "Driver.h"

#include <fmt/format.h>

namespace xlc::runtime::cuda {

Driver::Driver(const std::string &folder) : library(cudaDriver, folder) {
  library.find(initialize, "cuInit");
  library.find(getVersion, "cuDriverGetVersion");
  library.find(getCount, "cuDeviceGetCount");
  library.find(getDevice, "cuDeviceGet");
  library.find(getName, "cuDeviceGetName");
  library.find(getAttribute, "cuDeviceGetAttribute");
  library.find(getUuid, "cuDeviceGetUuid_v2");
  library.find(retainContext, "cuDevicePrimaryCtxRetain");
  library.find(releaseContext, "cuDevicePrimaryCtxRelease_v2");
  library.find(setContext, "cuCtxSetCurrent");
  library.find(getMemory, "cuMemGetInfo_v2");
  library.find(getGranularity, "cuMemGetAllocationGranularity");
  library.find(reserve, "cuMemAddressReserve");
  library.find(unreserve, "cuMemAddressFree");
  library.find(create, "cuMemCreate");
  library.find(release, "cuMemRelease");
  library.find(map, "cuMemMap");
  library.find(unmap, "cuMemUnmap");
  library.find(setAccess, "cuMemSetAccess");
  library.find(allocateHost, "cuMemHostAlloc");
  library.find(freeHost, "cuMemFreeHost");
  library.find(copyToDevice, "cuMemcpyHtoDAsync_v2");
  library.find(copyToHost, "cuMemcpyDtoHAsync_v2");
  library.find(copyOnDevice, "cuMemcpyDtoDAsync_v2");
  library.find(fill, "cuMemsetD8Async");
  library.find(getPriorities, "cuCtxGetStreamPriorityRange");
  library.find(createStream, "cuStreamCreateWithPriority");
  library.find(destroyStream, "cuStreamDestroy_v2");
  library.find(waitForStream, "cuStreamSynchronize");
  library.find(letStreamWait, "cuStreamWaitEvent");
  library.find(createEvent, "cuEventCreate");
  library.find(destroyEvent, "cuEventDestroy_v2");
  library.find(record, "cuEventRecord");
  library.find(queryEvent, "cuEventQuery");
  library.find(getElapsedTime, "cuEventElapsedTime");
  library.find(waitForEvent, "cuEventSynchronize");
  library.find(beginCapture, "cuStreamBeginCapture_v2");
  library.find(endCapture, "cuStreamEndCapture");
  library.find(instantiate, "cuGraphInstantiateWithFlags");
  library.find(upload, "cuGraphUpload");
  library.find(destroyGraph, "cuGraphDestroy");
  library.find(destroyLaunchable, "cuGraphExecDestroy");
  library.find(launchGraph, "cuGraphLaunch");
  library.find(load, "cuLibraryLoadData");
  library.find(unload, "cuLibraryUnload");
  library.find(getKernel, "cuLibraryGetKernel");
  library.find(getFunction, "cuKernelGetFunction");
  library.find(launch, "cuLaunchKernel");
  library.find(nameError, "cuGetErrorName");
  library.find(explainError, "cuGetErrorString");
}

std::string Driver::describe(Status status) const {
  const char *name = nullptr, *text = nullptr;
  if (nameError(status, &name) != success || explainError(status, &text) != success || !name || !text)
    return fmt::format("error {}", status);
  return fmt::format("{} ({})", text, name);
}

void Driver::check(Status status, const char *function) const {
  if (status != success)
    throw DeviceFailure(fmt::format("{}: {}", function, describe(status)));
}

Function Driver::findKernel(Library code, const std::string &name) const {
  Function kernel;
  check(getKernel(&kernel, code, name.c_str()), "cuLibraryGetKernel");
  return kernel;
}

void Driver::launchBlocks(Function kernel, int64_t blocks, unsigned threads, void **parameters, Stream stream) const {
  if (blocks == 0)
    return;
  if (blocks > INT32_MAX)
    throw DeviceFailure(fmt::format("{} blocks are too many for a GPU", blocks));
  check(launch(kernel, (unsigned)blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
}

} // namespace xlc::runtime::cuda
