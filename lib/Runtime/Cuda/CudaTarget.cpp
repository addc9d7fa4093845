// NVIDIA's GPUs as a target: the requirements on this machine, and the assignment of devices to ranks.
#include "Failure.h"
#include "NcclFabric.h"
#include "VendorSettings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>

namespace xlc::runtime {
namespace {

using namespace cuda;

class CudaMachine : public Machine {
public:
  CudaMachine(const std::string &folder, bool sharesGpu) : sharesGpu(sharesGpu), libraries(folder) {}

  const bool sharesGpu; ///< ranks may have the same
  Libraries libraries;
  std::vector<Ordinal> devices; ///< by rank; of this process's ranks
};

std::string describeGpus(const Plan &plan) { return plan.gpu + " GPUs"; }

Ordinal deviceOf(const Driver &driver, int number) {
  Ordinal device;
  driver.check(driver.getDevice(&device, number), "cuDeviceGet");
  return device;
}

int capabilityOf(const Driver &driver, Ordinal device) {
  int major, minor;
  driver.check(driver.getAttribute(&major, capabilityMajor, device), "cuDeviceGetAttribute");
  driver.check(driver.getAttribute(&minor, capabilityMinor, device), "cuDeviceGetAttribute");
  return major * 10 + minor;
}

std::string nameOf(const Driver &driver, Ordinal device) {
  std::array<char, 256> name{};
  driver.check(driver.getName(name.data(), name.size(), device), "cuDeviceGetName");
  return name.data();
}

int versionOf(const Driver &driver) {
  int version;
  driver.check(driver.getVersion(&version), "cuDriverGetVersion");
  return version;
}

void checkDriver(int version) {
  if (version < oldestDriver)
    throw Rejected(
        fmt::format("error: the driver of this machine supports CUDA {}.{}, but the program needs CUDA {}.{} or later",
                    version / 1000, version % 1000 / 10, oldestDriver / 1000, oldestDriver % 1000 / 10));
}

/// PTX is for all chips from 8.0 on.
void checkDevice(const Driver &driver, Ordinal device) {
  if (int capability = capabilityOf(driver, device); capability < oldestCapability)
    throw Rejected(fmt::format("error: {} has compute capability {}.{}, but the program needs {}.{} or later",
                               nameOf(driver, device), capability / 10, capability % 10, oldestCapability / 10,
                               oldestCapability % 10));
}

/// The device of the first of this process's ranks; those of the others follow. Of a process of its own a rank has the only
/// one that it sees, as launchers arrange it, or that of its number on this host.
int firstDevice(const Driver &driver, const Plan &plan, const HostShare &ranks) {
  int count, all = (int)rankCount(plan);
  driver.check(driver.getCount(&count), "cuDeviceGetCount");
  if (count >= ranks.localRank + ranks.count)
    return ranks.localRank;
  if (count == 1 && ranks.count == 1)
    return 0;
  std::string where = ranks.onHost < all ? fmt::format(", of which {} are on this host", ranks.onHost) : "";
  throw Rejected(fmt::format("error: the program has {} rank{}{}, but {} GPU{} visible (CUDA_VISIBLE_DEVICES)", all,
                             all == 1 ? "" : "s", where, count, count == 1 ? " is" : "s are"));
}

bool hasCall(const Plan &plan, plan::Library library) {
  return std::ranges::any_of(plan.kernels, [&](const auto &kernel) { return kernel->library.type == library; });
}

/// cuDNN. Attention needs it; convolutions are products without it.
void openFusing(Libraries &libraries, const Plan &plan, const std::string &folder) {
  bool isNeeded = hasCall(plan, plan::Library::Attention);
  if (!isNeeded && (plan.deterministic || !hasCall(plan, plan::Library::Convolution)))
    return;
  try {
    libraries.fusing.emplace(libraries.fusingFile.emplace(cudnnLibrary, folder));
    if (isNeeded)
      libraries.fusing->requireRightAttention(*libraries.fusingFile);
  } catch (const Rejected &problem) {
    if (isNeeded)
      throw;
    std::string_view why(problem.what());
    why.remove_prefix(std::string_view("error: ").size());
    std::fputs(fmt::format("note: convolutions are computed as products, image by image: {}\n", why).c_str(), stderr);
  }
}

/// Before anything is loaded.
void checkMemory(const Driver &driver, Ordinal device, uint64_t needed, const char *who) {
  OwnedContext context(driver, device);
  size_t free, total;
  driver.check(driver.getMemory(&free, &total), "cuMemGetInfo");
  if (free < needed)
    throw Rejected(
        fmt::format("error: {} {} bytes of the GPU's memory, but {} of {} bytes are free", who, needed, free, total));
}

/// Kernels are there before the first step: a rank that loads one then may wait for another one that waits for it. By itself a rank may
/// load those of convolutions when they are asked for: cuDNN has half a gigabyte of them.
bool loadsLazily(const Plan &plan) {
  return rankCount(plan) == 1 && !plan.deterministic && hasCall(plan, plan::Library::Convolution);
}

/// With the driver, and what calls of one rank use.
std::unique_ptr<CudaMachine> openMachine(const Plan &plan, const LibraryOptions &given) {
  auto machine = std::make_unique<CudaMachine>(given.folder, given.sharesDevice);
  Libraries &libraries = machine->libraries;
  const Driver &driver = libraries.driver;
  setLoading(loadsLazily(plan));
  driver.check(driver.initialize(0), "cuInit");
  int version = versionOf(driver);
  checkDriver(version);
  libraries.products.emplace(version < 13000 ? cublasLt12Library : cublasLtLibrary, given.folder);
  cublaslt::Library{*libraries.products}; // has all that calls ask for
  openFusing(libraries, plan, given.folder);
  return machine;
}

[[noreturn]] void rejectGpu(const DeviceFailure &failure) {
  throw Rejected(fmt::format("error: this machine's GPU cannot be used: {}", failure.what()));
}

void checkDeterminism(const Plan &plan, const char *option) {
  if (plan.deterministic)
    throw Rejected(
        fmt::format("error: {} selects algorithms by their time, but the program has `runtime: {{deterministic: "
                    "true}}`, which always uses the library's choice: use only one of the two",
                    option));
}

/// Has the products of this process's ranks take what was timed.
void useTuning(CudaMachine &machine, const Plan &plan, const Share &ranks, const LibraryOptions &given) {
  checkDeterminism(plan, "--tuned");
  Libraries &libraries = machine.libraries;
  libraries.tuning.emplace(Tuning::read(given.tunedName, given.tuned));
  std::string version = cublaslt::Library{*libraries.products}.version();
  for (int rank = ranks.first; rank < ranks.first + ranks.count; ++rank)
    libraries.tuning->check(nameOf(libraries.driver, machine.devices[(size_t)rank]), version);
}

/// The GPUs of this process's ranks, which are there and large enough.
std::vector<Ordinal> findGpus(const Driver &driver, const Plan &plan, const HostShare &ranks) {
  std::vector<Ordinal> devices(rankCount(plan));
  int first = firstDevice(driver, plan, ranks);
  for (int rank = ranks.first; rank < ranks.first + ranks.count; ++rank) {
    Ordinal device = devices[(size_t)rank] = deviceOf(driver, first + rank - ranks.first);
    checkDevice(driver, device);
    checkMemory(driver, device, trainingProgramOf(plan, rank).arena, "the plan's arena needs");
  }
  return devices;
}

std::unique_ptr<Machine> prepareGpus(const Plan &plan, const HostShare &ranks, const LibraryOptions &given) {
  try {
    std::unique_ptr<CudaMachine> machine = openMachine(plan, given);
    Libraries &libraries = machine->libraries;
    machine->devices = findGpus(libraries.driver, plan, ranks);
    if (!given.tunedName.empty())
      useTuning(*machine, plan, ranks, given);
    if (rankCount(plan) == 1) {
      if (given.registersMemory)
        throw Rejected("error: --register-buffers is for programs of several ranks, but this one has one rank");
      return machine;
    }
    setNccl(ranks.first, ranks.count, given.sharesDevice);
    libraries.nccl.emplace(libraries.ncclFile.emplace(ncclLibrary, given.folder));
    libraries.sharing = given.registersMemory ? Sharing::Exportable : Sharing::Private;
    return machine;
  } catch (const DeviceFailure &failure) {
    rejectGpu(failure);
  }
}

/// The products of all ranks, ready to run; of those that are alike one.
std::map<std::string, Product *> prepareProducts(const Plan &plan, CudaDevice &device) {
  for (const auto &function : plan.functions)
    for (const auto &call : function->calls)
      if (const plan::LibraryUnion &library = plan.kernels[call->kernel]->library;
          library.AsContract() || library.AsConvolution())
        device.prepare(*call);
  std::map<std::string, Product *> distinct;
  for (Product *product : device.listProducts())
    distinct.emplace(product->description(), product);
  return distinct;
}

/// A line that cannot be written does not end the work.
void sayLine(const std::string &line) {
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

/// Fills the file, and says what is found. Whether it came to an end: `signal` asks it to stop.
bool timeProducts(const Driver &driver, Ordinal ordinal, CudaDevice &device,
                  const std::map<std::string, Product *> &products, const std::atomic<int> &signal, Tuning &tuning) {
  uint64_t most = 2 << 20; // what devices allocate in
  for (const auto &[text, product] : products)
    most = std::max(most, bytesToTime(*product));
  checkMemory(driver, ordinal, most, "the operands of a product need");
  DeviceMemory memory = device.allocate(most);
  Stopwatch watch(driver, device.stream());
  Milliseconds best = 0, first = 0;
  size_t others = 0;
  for (const auto &[text, product] : products) {
    if (signal)
      return false;
    fillWithNumbers(driver, (Address)(uintptr_t)memory.begin, bytesToTime(*product), device.stream());
    TunedProduct tuned = tune(*product, memory.begin, watch, device.stream());
    std::string better =
        tuned.taken < tuned.first ? fmt::format(", cuBLASLt's first choice {:.3f} ms", tuned.first) : "";
    sayLine(fmt::format("{:3} of {} {:10.3f} ms{}: {}\n", tuning.products.size() + 1, products.size(), tuned.taken,
                        better, text));
    best += tuned.taken, first += tuned.first, others += tuned.taken < tuned.first;
    tuning.products.insert({text, std::move(tuned)});
  }
  sayLine(fmt::format("{} product{} on {}, cuBLASLt {}; {} of them use a different algorithm than the library's first "
                      "choice: one call of each product takes {:.3f} ms in total instead of {:.3f} ms\n",
                      products.size(), products.size() == 1 ? "" : "s", tuning.gpu, tuning.library, others, best,
                      first));
  return true;
}

/// On the first GPU that is visible, with operands beside each other: what a product costs depends little on where they lie.
std::string tuneGpu(const DeviceSetup &setup, const LibraryOptions &given, const std::atomic<int> &signal) {
  checkDeterminism(setup.plan, "--tune");
  try {
    const std::unique_ptr<CudaMachine> machine = openMachine(setup.plan, given);
    const Driver &driver = machine->libraries.driver;
    Ordinal ordinal = deviceOf(driver, 0);
    checkDevice(driver, ordinal);
    CudaDevice device(machine->libraries, ordinal, setup, 0);
    std::map<std::string, Product *> products = prepareProducts(setup.plan, device);
    Tuning tuning(nameOf(driver, ordinal), cublaslt::Library{*machine->libraries.products}.version());
    return timeProducts(driver, ordinal, device, products, signal, tuning) ? tuning.write() : "";
  } catch (const DeviceFailure &failure) {
    rejectGpu(failure);
  }
}

std::unique_ptr<Device> makeCudaDevice(const DeviceSetup &setup, int rank) {
  const auto &machine = *static_cast<const CudaMachine *>(setup.machine); // as prepareGpus makes it
  const Libraries &libraries = machine.libraries;
  auto device = std::make_unique<CudaDevice>(libraries, machine.devices[(size_t)rank], setup, rank);
  if (libraries.nccl) // as joinGpus makes the fabric
    static_cast<NcclFabric *>(setup.fabric)->join(*libraries.nccl, rank, *device, machine.sharesGpu);
  return device;
}

std::unique_ptr<Fabric> joinGpus(const FabricSetup &setup) {
  return std::make_unique<NcclFabric>(setup.plan, setup.spins, setup.commons, setup.wire);
}

} // namespace

const Target &linkedTarget() {
  static constexpr Target gpus{describeGpus, prepareGpus, makeCudaDevice, joinGpus, /*isHost=*/false, tuneGpu};
  return gpus;
}

} // namespace xlc::runtime
