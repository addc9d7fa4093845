// NVIDIA's GPUs as a target: what this machine must have, and how a rank gets its device.
#include "Failure.h"
#include "NcclFabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace xlc::runtime {
namespace {

using namespace cuda;

/// CUDA 12.0: the first with libraries of kernels.
constexpr int oldestDriver = 12000;

/// By prepareGpus, for the life of the process. XLC_CUDA_LIBRARIES names the only folder in which they are looked for.
std::optional<Libraries> opened;
std::vector<Ordinal> devices; ///< by rank; of this process's ranks

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

int versionOf(const Driver &driver) {
  int version;
  driver.check(driver.getVersion(&version), "cuDriverGetVersion");
  return version;
}

void checkDriver(int version) {
  if (version < oldestDriver)
    throw Rejected(fmt::format("error: the driver of this machine is of CUDA {}.{}, the program needs one of CUDA 12.0 "
                               "or later",
                               version / 1000, version % 1000 / 10));
}

/// PTX is for all chips from 8.0 on.
void checkDevice(const Driver &driver, Ordinal device) {
  constexpr int oldestChip = 80;
  char name[256] = {};
  driver.check(driver.getName(name, sizeof name, device), "cuDeviceGetName");
  if (int capability = capabilityOf(driver, device); capability < oldestChip)
    throw Rejected(fmt::format("error: {} has compute capability {}.{}, the program needs 8.0 or later", name,
                               capability / 10, capability % 10));
}

/// The device of the first of this process's ranks; those of the others follow. Of a process of its own a rank has the only
/// one that it sees, as launchers arrange it, or that of its number.
int firstDevice(const Driver &driver, const Plan &plan, const Share &ranks) {
  int count, all = (int)rankCount(plan);
  driver.check(driver.getCount(&count), "cuDeviceGetCount");
  if (count >= all)
    return ranks.first;
  if (count == 1 && ranks.count == 1)
    return 0;
  throw Rejected(fmt::format("error: the program has {} rank{}, and {} GPU{} visible (CUDA_VISIBLE_DEVICES)", all,
                             all == 1 ? "" : "s", count, count == 1 ? " is" : "s are"));
}

bool hasAttention(const Plan &plan) {
  return std::ranges::any_of(plan.kernels, [](const auto &kernel) { return kernel->library.AsAttention(); });
}

/// Before anything is loaded.
void checkMemory(const Driver &driver, Ordinal device, uint64_t needed) {
  OwnedContext context(driver, device);
  size_t free, total;
  driver.check(driver.getMemory(&free, &total), "cuMemGetInfo");
  if (free < needed)
    throw Rejected(
        fmt::format("error: the plan needs {} bytes of the GPU's memory for its arena, {} of {} bytes are free", needed,
                    free, total));
}

/// With XLC_SHARE_GPU ranks may have one GPU, for tests on a machine that has one: to NCCL each is a host of its own, which
/// it reaches over sockets of this machine.
void shareGpu(const Share &ranks) {
  setenv("NCCL_HOSTID", fmt::format("rank-{}", ranks.first).c_str(), /*overwrite=*/1);
  setenv("NCCL_SOCKET_IFNAME", "lo", /*overwrite=*/0);
}

void prepareGpus(const Plan &plan, const Share &ranks, bool) {
  const char *given = std::getenv("XLC_CUDA_LIBRARIES");
  std::string folder = given ? given : "";
  const Driver &driver = opened.emplace(folder).driver;
  try {
    setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0); // kernels are there before the first step
    driver.check(driver.initialize(0), "cuInit");
    int version = versionOf(driver);
    checkDriver(version);
    opened->products.emplace(version < 13000 ? cublasLt12Library : cublasLtLibrary, folder);
    cublaslt::Library{*opened->products}; // has all that calls ask for
    devices.resize(rankCount(plan));
    int first = firstDevice(driver, plan, ranks);
    for (int rank = ranks.first; rank < ranks.first + ranks.count; ++rank) {
      Ordinal device = devices[(size_t)rank] = deviceOf(driver, first + rank - ranks.first);
      checkDevice(driver, device);
      checkMemory(driver, device, programOf(plan, rank).arena);
    }
    if (hasAttention(plan))
      opened->attention.emplace(opened->attentionFile.emplace(cudnnLibrary, folder));
    if (rankCount(plan) == 1)
      return;
    if (isGpuShared())
      shareGpu(ranks);
    opened->nccl.emplace(opened->ncclFile.emplace(ncclLibrary, folder));
  } catch (const DeviceFailure &failure) {
    throw Rejected(fmt::format("error: this machine's GPU cannot be used: {}", failure.what()));
  }
}

std::unique_ptr<Device> makeCudaDevice(const DeviceSetup &setup, int rank) {
  auto device = std::make_unique<CudaDevice>(*opened, devices[(size_t)rank], setup, rank);
  if (opened->nccl)
    static_cast<NcclFabric *>(setup.fabric)->join(*opened->nccl, rank, *device); // as joinGpus makes it
  return device;
}

std::unique_ptr<Fabric> joinGpus(const FabricSetup &setup) {
  if (setup.wire)
    throw Rejected("error: programs for GPUs run on one host");
  return std::make_unique<NcclFabric>(setup.plan, setup.spins, setup.commons);
}

} // namespace

const Target &linkedTarget() {
  static constexpr Target gpus{describeGpus, prepareGpus, makeCudaDevice, joinGpus, /*isHost=*/false};
  return gpus;
}

} // namespace xlc::runtime
