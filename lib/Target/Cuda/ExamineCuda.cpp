// Reports the software and devices of a machine for programs of GPUs. Libraries are searched as programs search them,
// by the names of supported versions, and their versions are queried; nothing is started on a device.
#include "CudaTarget.h"

#include "Cuda/OpenLibrary.h"
#include "Failure.h"
#include "llvm/Support/FormatVariadic.h"

using namespace xlc;
using runtime::OpenedLibrary;

namespace {

using Part = MachineReport::Part;

template <class Function> Function *find(const OpenedLibrary &library, const char *name) {
  return (Function *)library.findSymbol(name);
}

/// 91900 is 9.19.0: cuBLASLt from 12 on, cuDNN from 9 on, NCCL from 2.9 on.
std::string ofFiveDigits(uint64_t version) {
  return llvm::formatv("{0}.{1}.{2}", version / 10000, version / 100 % 100, version % 100);
}

/// 0: the driver does not say it.
int numberOfDriver(const OpenedLibrary &library) {
  auto *ask = find<int(int *)>(library, "cuDriverGetVersion");
  int version = 0;
  return ask && ask(&version) == 0 ? version : 0;
}

std::string versionOfDriver(const OpenedLibrary &library) {
  int version = numberOfDriver(library);
  return version ? llvm::formatv("for CUDA {0}.{1}", version / 1000, version / 10 % 100).str() : "";
}

std::string versionOfCublasLt(const OpenedLibrary &library) {
  auto *ask = find<size_t()>(library, "cublasLtGetVersion");
  return ask ? ofFiveDigits(ask()) : "";
}

std::string versionOfCudnn(const OpenedLibrary &library) {
  auto *ask = find<size_t()>(library, "cudnnGetVersion");
  return ask ? ofFiveDigits(ask()) : "";
}

std::string versionOfNccl(const OpenedLibrary &library) {
  auto *ask = find<int(int *)>(library, "ncclGetVersion");
  int version = 0;
  return ask && ask(&version) == 0 ? ofFiveDigits(uint64_t(version)) : "";
}

struct Library {
  runtime::LibraryFiles files;
  std::string (*versionOf)(const OpenedLibrary &library); ///< empty: it does not say
  bool isNeeded;                                          ///< by every program
};
constexpr char ofNvidia[] = "an NVIDIA package that is not part of the CUDA toolkit";
constexpr Library libraries[] = {
    {{"NVIDIA driver", runtime::cudaDriver.files, runtime::cudaDriver.howToGet}, versionOfDriver, true},
    {runtime::cublasLtLibrary, versionOfCublasLt, true},
    {{runtime::cudnnLibrary.name, runtime::cudnnLibrary.files, ofNvidia}, versionOfCudnn, false},
    {{runtime::ncclLibrary.name, runtime::ncclLibrary.files, ofNvidia}, versionOfNccl, false},
};

std::optional<OpenedLibrary> tryOpen(const runtime::LibraryFiles &files) {
  try {
    return OpenedLibrary(files);
  } catch (const runtime::Rejected &) {
    return std::nullopt;
  }
}

Part describeMissing(const runtime::LibraryFiles &missing) {
  auto [newest, older] = missing.files;
  std::string files = newest + (older ? std::string(" or ") + older : "");
  return {missing.name, "not found (" + files + "): " + missing.howToGet};
}

Part describeFound(const Library &library, const OpenedLibrary &found) {
  std::string version = library.versionOf(found);
  return {library.files.name, version.empty() ? "found, but its version is unknown" : version};
}

/// One GPU as the driver sees it. Whether programs can run on it.
bool examineDevice(const OpenedLibrary &driver, int index, std::vector<Part> &parts) {
  constexpr int majorOfCapability = 75, minorOfCapability = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  constexpr int least = runtime::oldestCapability;
  auto *nameOf = find<int(char *, int, int)>(driver, "cuDeviceGetName");
  auto *memoryOf = find<int(size_t *, int)>(driver, "cuDeviceTotalMem_v2");
  auto *attributeOf = find<int(int *, int, int)>(driver, "cuDeviceGetAttribute");
  auto *get = find<int(int *, int)>(driver, "cuDeviceGet");
  char name[256] = "";
  int device = 0, capability[2] = {};
  size_t bytes = 0;
  bool isKnown = nameOf && memoryOf && attributeOf && get && get(&device, index) == 0 &&
                 nameOf(name, sizeof(name) - 1, device) == 0 && memoryOf(&bytes, device) == 0 &&
                 attributeOf(&capability[0], majorOfCapability, device) == 0 &&
                 attributeOf(&capability[1], minorOfCapability, device) == 0;
  if (!isKnown)
    return parts.push_back({"", "GPU " + std::to_string(index) + " cannot be identified"}), false;
  bool isEnough = capability[0] * 10 + capability[1] >= least;
  std::string lack = isEnough ? "" : llvm::formatv(": kernels need {0}.{1}", least / 10, least % 10).str();
  parts.push_back({"", llvm::formatv("{0}, {1:f1} GiB, compute capability {2}.{3}{4}", name, double(bytes) / (1 << 30),
                                     capability[0], capability[1], lack)});
  return isEnough;
}

/// Whether there is a GPU on which programs can run.
bool examineDevices(const std::optional<OpenedLibrary> &driver, std::vector<Part> &parts) {
  auto *begin = driver ? find<int(unsigned)>(*driver, "cuInit") : nullptr;
  auto *count = driver ? find<int(int *)>(*driver, "cuDeviceGetCount") : nullptr;
  int devices = 0;
  if (!begin || !count || begin(0) != 0 || count(&devices) != 0 || devices == 0)
    return parts.push_back({"GPUs", "none"}), false;
  parts.push_back({"GPUs", std::to_string(devices)});
  bool isAnyEnough = false;
  for (int i = 0; i < devices; ++i)
    isAnyEnough |= examineDevice(*driver, i, parts);
  return isAnyEnough;
}

} // namespace

MachineReport xlc::examineCuda() {
  MachineReport report;
  std::vector<std::string> lacks;
  for (const Library &library : libraries) {
    std::optional<OpenedLibrary> found = tryOpen(library.files);
    report.parts.push_back(found ? describeFound(library, *found) : describeMissing(library.files));
    if (!found && library.isNeeded)
      lacks.push_back(std::string("no ") + library.files.name);
  }
  std::optional<OpenedLibrary> driver = tryOpen(libraries[0].files);
  int version = driver ? numberOfDriver(*driver) : 0;
  if (version && version < runtime::oldestDriver)
    lacks.push_back(llvm::formatv("no driver for CUDA {0}.{1} or later", runtime::oldestDriver / 1000,
                                  runtime::oldestDriver / 10 % 100));
  if (!examineDevices(driver, report.parts))
    lacks.push_back(llvm::formatv("no GPU of compute capability {0}.{1} or later", runtime::oldestCapability / 10,
                                  runtime::oldestCapability % 10));
  report.obstacle = llvm::join(lacks, ", ");
  return report;
}
