// `xlc doctor`: what the machine at hand can do, and how to get what it lacks. Libraries are looked for as programs look for
// them, by the names of the versions that they know, and asked for their version; nothing is started on a device.
#include "Command.h"

#include "xlc/Target/Targets.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include <dlfcn.h>

using namespace xlc;

namespace {

template <class Function> Function *find(void *library, const char *name) { return (Function *)dlsym(library, name); }

std::string dotted(int major, int minor, int patch) { return llvm::formatv("{0}.{1}.{2}", major, minor, patch); }

/// 91900 is 9.19.0: cuBLASLt from 12 on, cuDNN from 9 on, NCCL from 2.9 on.
std::string ofFiveDigits(uint64_t version) {
  return dotted(int(version / 10000), int(version / 100 % 100), int(version % 100));
}

std::string versionOfMpi(void *library) {
  constexpr int longest = 8192; // MPI_MAX_LIBRARY_VERSION_STRING is at most that
  std::string text(longest, '\0');
  int length = 0;
  auto *ask = find<int(char *, int *)>(library, "MPI_Get_library_version");
  if (!ask || ask(text.data(), &length) != 0)
    return "";
  return llvm::StringRef(text).take_until([](char c) { return c == ',' || (unsigned char)c < ' '; }).str();
}

std::string versionOfDriver(void *library) {
  auto *ask = find<int(int *)>(library, "cuDriverGetVersion");
  int version = 0;
  if (!ask || ask(&version) != 0)
    return "";
  return llvm::formatv("for CUDA {0}.{1}", version / 1000, version / 10 % 100);
}

std::string versionOfCublasLt(void *library) {
  auto *ask = find<size_t()>(library, "cublasLtGetVersion");
  return ask ? ofFiveDigits(ask()) : "";
}

std::string versionOfCudnn(void *library) {
  auto *ask = find<size_t()>(library, "cudnnGetVersion");
  return ask ? ofFiveDigits(ask()) : "";
}

std::string versionOfNccl(void *library) {
  auto *ask = find<int(int *)>(library, "ncclGetVersion");
  int version = 0;
  return ask && ask(&version) == 0 ? ofFiveDigits(uint64_t(version)) : "";
}

struct Library {
  const char *name;
  llvm::StringLiteral files;               ///< the newest first, with spaces between them
  std::string (*versionOf)(void *library); ///< empty: it does not say
  const char *howToGet;
};
constexpr Library libraries[] = {
    {"MPI", "libmpi.so.40", versionOfMpi, "apt-get install openmpi-bin"},
    {"NVIDIA driver", "libcuda.so.1", versionOfDriver, "part of a GPU's driver"},
    {"cuBLASLt", "libcublasLt.so.13 libcublasLt.so.12", versionOfCublasLt, "part of the CUDA toolkit"},
    {"cuDNN", "libcudnn.so.9", versionOfCudnn, "a package of NVIDIA's beside the CUDA toolkit"},
    {"NCCL", "libnccl.so.2", versionOfNccl, "a package of NVIDIA's beside the CUDA toolkit"},
};

void printRow(llvm::StringRef name, const llvm::Twine &what) {
  llvm::outs() << llvm::formatv("  {0,-15}  ", name) << what << "\n";
}

/// Stays open: what a library has begun in this process ends with it.
void *open(const Library &library) {
  for (llvm::StringRef file : llvm::split(library.files, ' '))
    if (void *found = dlopen(file.str().c_str(), RTLD_LAZY | RTLD_LOCAL))
      return found;
  return nullptr;
}

void printLibrary(const Library &library) {
  if (void *found = open(library)) {
    std::string version = library.versionOf(found);
    return printRow(library.name, version.empty() ? "found, but it does not say its version" : version);
  }
  std::string files = llvm::join(llvm::split(library.files, ' '), " or ");
  printRow(library.name, "not found (" + files + "): " + library.howToGet);
}

/// One GPU as the driver sees it.
void printDevice(void *driver, int index) {
  constexpr int majorOfCapability = 75, minorOfCapability = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
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
    return printRow("", "GPU " + llvm::Twine(index) + " does not say what it is");
  bool isEnough = capability[0] >= 8;
  printRow("", llvm::formatv("{0}, {1:f1} GiB, compute capability {2}.{3}{4}", name, double(bytes) / (1 << 30),
                             capability[0], capability[1], isEnough ? "" : ": kernels need 8.0")
                   .str());
}

void printDevices() {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  auto *begin = driver ? find<int(unsigned)>(driver, "cuInit") : nullptr;
  auto *count = driver ? find<int(int *)>(driver, "cuDeviceGetCount") : nullptr;
  int devices = 0;
  if (!begin || !count || begin(0) != 0 || count(&devices) != 0 || devices == 0)
    return printRow("GPUs", "none");
  printRow("GPUs", llvm::Twine(devices));
  for (int i = 0; i < devices; ++i)
    printDevice(driver, i);
}

int examine() {
  llvm::outs() << "this machine\n";
  const TargetRow &row = getTargets().front();
  printRow("processor", row.make(row.listChips().front())->chip() + llvm::Twine(", ") +
                            llvm::Twine(llvm::hardware_concurrency().compute_thread_count()) + " cores");
  for (const Library &library : libraries)
    printLibrary(library);
  printDevices();
  llvm::outs() << "programs are made for CPUs; for GPUs none are made yet\n";
  return Done;
}

} // namespace

Command xlc::addDoctorCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("doctor", "what this machine can do, and how to get what it lacks");
  command->footer("\nExamples:\n"
                  "  xlc doctor      libraries are looked for as programs look for them: LD_LIBRARY_PATH, ldconfig");
  return {command, examine};
}
