// cuDNN as it is installed, asked for devices that this machine need not have.
#ifndef XLC_UNITTESTS_CUDA_CHIPS_H
#define XLC_UNITTESTS_CUDA_CHIPS_H

#include "Cuda/Cudnn.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

namespace xlc::test {

/// What the library says of an H100 (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION), of another chip.
inline std::string describeDevice(int capability, int blockMemory) {
  return fmt::format(
      R"({{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
      R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":{},)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,)"
      R"("maxThreadsPerSM":2048,"pciDeviceId":6,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":85017493504,)"
      R"("smClockRateKHz":1980000,"memClockRateKHz":2619000,"memoryBusWidth":5120,"l2CacheSize":52428800,"cudaDeviceId":0,"deviceVer":{},)"
      R"("driverVer":13000,"deviceName":"a GPU"}})",
      blockMemory, capability * 10);
}

struct Chip {
  int capability, blockMemory;
};
inline constexpr Chip chips[] = {{80, 166912}, {90, 232448}, {100, 232448}};

class CudnnTest : public testing::Test {
protected:
  /// What the library opens by its name it finds where that is there already.
  CudnnTest() {
    for (const char *needed : {XLC_STUB_DRIVER, XLC_CUDA_WHEELS "/cuda_nvrtc/lib/libnvrtc.so.12",
                               XLC_CUDA_WHEELS "/cublas/lib/libcublasLt.so.12"})
      EXPECT_NE(dlopen(needed, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  }
  runtime::cudnn::OwnedDescriptor describe(const Chip &chip) {
    runtime::cudnn::Descriptor made = nullptr;
    library.createDescriptor(runtime::cudnn::Kind::DeviceProperties, &made);
    std::string json = describeDevice(chip.capability, chip.blockMemory);
    library.setAttribute(made, runtime::cudnn::Attribute::DeviceJson, runtime::cudnn::Type::Char, (int64_t)json.size(),
                         json.data());
    EXPECT_EQ(library.finalize(made), runtime::cudnn::Status::Success) << library.lastError();
    return runtime::cudnn::OwnedDescriptor(made, {&library});
  }
  const runtime::OpenedLibrary file{runtime::cudnnLibrary, XLC_CUDA_WHEELS "/cudnn/lib"};
  const runtime::cudnn::Library library{file};
};

} // namespace xlc::test

#endif
