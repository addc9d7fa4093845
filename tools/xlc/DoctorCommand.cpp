// `xlc doctor`: what the machine at hand can do, and how to get what it lacks. Libraries are looked for as programs look for
// them, by the names of the versions that they know, and asked for their version; nothing is started on a device.
#include "Command.h"

#include "Cuda/OpenLibrary.h"
#include "Failure.h"
#include "xlc/Target/Targets.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"

using namespace xlc;
using runtime::OpenedLibrary;

namespace {

template <class Function> Function *find(const OpenedLibrary &library, const char *name) {
  return (Function *)library.findSymbol(name);
}

std::string dotted(int major, int minor, int patch) { return llvm::formatv("{0}.{1}.{2}", major, minor, patch); }

/// 91900 is 9.19.0: cuBLASLt from 12 on, cuDNN from 9 on, NCCL from 2.9 on.
std::string ofFiveDigits(uint64_t version) {
  return dotted(int(version / 10000), int(version / 100 % 100), int(version % 100));
}

std::string versionOfMpi(const OpenedLibrary &library) {
  constexpr int longest = 8192; // MPI_MAX_LIBRARY_VERSION_STRING is at most that
  std::string text(longest, '\0');
  int length = 0;
  auto *ask = find<int(char *, int *)>(library, "MPI_Get_library_version");
  if (!ask || ask(text.data(), &length) != 0)
    return "";
  return llvm::StringRef(text).take_until([](char c) { return c == ',' || (unsigned char)c < ' '; }).str();
}

std::string versionOfDriver(const OpenedLibrary &library) {
  auto *ask = find<int(int *)>(library, "cuDriverGetVersion");
  int version = 0;
  if (!ask || ask(&version) != 0)
    return "";
  return llvm::formatv("for CUDA {0}.{1}", version / 1000, version / 10 % 100);
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
};
constexpr runtime::LibraryFiles driver = {"NVIDIA driver", runtime::cudaDriver.files, runtime::cudaDriver.howToGet};
constexpr Library libraries[] = {
    {{"MPI", {"libmpi.so.40", nullptr}, "apt-get install openmpi-bin"}, versionOfMpi},
    {driver, versionOfDriver},
    {runtime::cublasLtLibrary, versionOfCublasLt},
    {{"cuDNN", {"libcudnn.so.9", nullptr}, "a package of NVIDIA's beside the CUDA toolkit"}, versionOfCudnn},
    {{"NCCL", {"libnccl.so.2", nullptr}, "a package of NVIDIA's beside the CUDA toolkit"}, versionOfNccl},
};

void printRow(llvm::StringRef name, const llvm::Twine &what) {
  llvm::outs() << llvm::formatv("  {0,-15}  ", name) << what << "\n";
}

std::optional<OpenedLibrary> tryOpen(const runtime::LibraryFiles &files) {
  try {
    return OpenedLibrary(files);
  } catch (const runtime::Rejected &) {
    return std::nullopt;
  }
}

void printLibrary(const Library &library) {
  if (std::optional<OpenedLibrary> found = tryOpen(library.files)) {
    std::string version = library.versionOf(*found);
    return printRow(library.files.name, version.empty() ? "found, but it does not say its version" : version);
  }
  auto [newest, older] = library.files.files;
  std::string files = newest + (older ? std::string(" or ") + older : "");
  printRow(library.files.name, "not found (" + files + "): " + library.files.howToGet);
}

/// One GPU as the driver sees it.
void printDevice(const OpenedLibrary &driver, int index) {
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
  std::optional<OpenedLibrary> opened = tryOpen(driver);
  auto *begin = opened ? find<int(unsigned)>(*opened, "cuInit") : nullptr;
  auto *count = opened ? find<int(int *)>(*opened, "cuDeviceGetCount") : nullptr;
  int devices = 0;
  if (!begin || !count || begin(0) != 0 || count(&devices) != 0 || devices == 0)
    return printRow("GPUs", "none");
  printRow("GPUs", llvm::Twine(devices));
  for (int i = 0; i < devices; ++i)
    printDevice(*opened, i);
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
                  "  xlc doctor      libraries are looked for as programs look for them: LD_LIBRARY_PATH, ldconfig,\n"
                  "                  the CUDA toolkit, packages of Python");
  return {command, examine};
}
