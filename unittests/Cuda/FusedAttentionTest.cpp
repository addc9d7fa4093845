// Graphs of attention, finalised by cuDNN for devices that this machine need not have, where scripts/setup --cuda has brought it:
// it has an engine for each, which asks for no more workspace than plans have.
#include "Cuda/FusedAttention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace xlc::runtime;

namespace {

/// What the library says of an H100 (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION), of another chip.
std::string describeDevice(int capability, int blockMemory) {
  return fmt::format(
      R"({{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
      R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":{},)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,)"
      R"("maxThreadsPerSM":2048,"pciDeviceId":6,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":85017493504,)"
      R"("smClockRateKHz":1980000,"memClockRateKHz":2619000,"memoryBusWidth":5120,"l2CacheSize":52428800,"cudaDeviceId":0,"deviceVer":{},)"
      R"("driverVer":13000,"deviceName":"a GPU"}})",
      blockMemory, capability * 10);
}

struct Case {
  const char *model;
  int64_t batch, positions, heads, groups, features, window;
  bool causal, isPadded = false;
};
constexpr Case cases[] = {
    {"GPT-2 124M", 64, 1024, 12, 12, 64, 0, true},   {"Llama-3 8B", 1, 8192, 32, 8, 128, 0, true},
    {"Mistral 7B", 1, 8192, 32, 8, 128, 4096, true}, {"ViT", 8, 256, 12, 12, 64, 0, false},
    {"BERT", 32, 512, 12, 12, 64, 0, false, true},
};
struct Chip {
  int capability, blockMemory;
};
constexpr Chip chips[] = {{80, 166912}, {90, 232448}, {100, 232448}};

AttentionShape shapeOf(const Case &c, bool backward) {
  HeadStrides q{c.positions * c.heads * c.features, c.heads * c.features, c.features};
  HeadStrides k{c.positions * c.groups * c.features, c.groups * c.features, c.features};
  return {backward,
          c.causal,
          0.125,
          c.batch,
          c.positions,
          c.positions,
          c.heads,
          c.groups,
          c.features,
          c.features,
          q,
          k,
          k,
          q,
          q,
          q,
          k,
          k,
          c.window,
          c.isPadded,
          c.isPadded ? AttentionBias::Allow : AttentionBias::None,
          {c.isPadded ? c.positions : 0, 0, 0},
          FloatType::BF16};
}

class FusedAttentionTest : public testing::Test {
protected:
  /// What the library opens by its name it finds where that is there already.
  FusedAttentionTest() {
    for (const char *needed : {XLC_STUB_DRIVER, XLC_CUDA_WHEELS "/cuda_nvrtc/lib/libnvrtc.so.12",
                               XLC_CUDA_WHEELS "/cublas/lib/libcublasLt.so.12"})
      EXPECT_NE(dlopen(needed, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  }
  cudnn::OwnedDescriptor describe(const Chip &chip) {
    cudnn::Descriptor made = nullptr;
    library.createDescriptor(cudnn::Kind::DeviceProperties, &made);
    std::string json = describeDevice(chip.capability, chip.blockMemory);
    library.setAttribute(made, cudnn::Attribute::DeviceJson, cudnn::Type::Char, (int64_t)json.size(), json.data());
    EXPECT_EQ(library.finalize(made), cudnn::Status::Success) << library.lastError();
    return cudnn::OwnedDescriptor(made, {&library});
  }
  const OpenedLibrary file{cudnnLibrary, XLC_CUDA_WHEELS "/cudnn/lib"};
  const cudnn::Library library{file};
};

TEST_F(FusedAttentionTest, HasEngines) {
  for (const Chip &chip : chips)
    for (const Case &each : cases)
      for (bool backward : {false, true}) {
        cudnn::OwnedDescriptor properties = describe(chip);
        AttentionShape shape = shapeOf(each, backward);
        ASSERT_TRUE(isFusedAttention(shape));
        std::string name =
            fmt::format("{} on sm_{}, {}", each.model, chip.capability, backward ? "backward" : "forward");
        try {
          cudnn::FusedAttention made(library, {nullptr, properties.get()}, name, shape,
                                     FusedAttentionWorkspace::bytes(shape, chip.capability));
        } catch (const std::exception &problem) {
          ADD_FAILURE() << problem.what();
        }
      }
}

} // namespace
