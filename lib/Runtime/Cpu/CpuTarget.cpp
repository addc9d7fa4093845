// Programs for CPUs: their level must be at most that of the machine. Their ranks access each other's memory (threads,
// or processes of one host) or exchange messages.
#include "CpuDevice.h"
#include "Fabric/MessageFabric.h"
#include "Fabric/SharedFabric.h"
#include "xlc/Runtime/CpuLevel.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

/// Whether a product's operands are widened, since the processors cannot multiply them.
bool isWidened(const Plan &plan, const plan::KernelT &kernel) {
  const plan::ContractT *product = kernel.library.AsContract();
  return product && (product->operands == plan::Element::F16 ||
                     (product->operands == plan::Element::BF16 && (CpuLevel)plan.cpu < CpuLevel::V4Bf16));
}

std::string describeProcessors(const Plan &plan) {
  bool widens = std::any_of(plan.kernels.begin(), plan.kernels.end(),
                            [&](const auto &kernel) { return isWidened(plan, *kernel); });
  return fmt::format("{} processors{}", nameOf((CpuLevel)plan.cpu),
                     widens ? ", 16-bit products widened to float32" : "");
}

/// The CPU must have what the kernels need; without this check they would end with SIGILL. Libraries are limited in any
/// case: beyond our levels is AMX, whose kernels want scratch and permissions of their own.
std::unique_ptr<Machine> prepareProcessor(const Plan &plan, const HostShare &, const LibraryOptions &libraries) {
  if (!libraries.tunedName.empty())
    throw Rejected("error: --tuned is for GPUs: products on CPUs have only one algorithm");
  if (libraries.registersMemory)
    throw Rejected("error: --register-buffers is for GPUs: CPUs do not exchange data through NCCL");
  auto level = (CpuLevel)plan.cpu;
  if (std::vector<std::string> missing = findMissingFeatures(level); !missing.empty())
    throw Rejected(fmt::format("error: this program is compiled for {} processors, but this processor lacks {}: "
                               "compile the program with --cpu {}, or with --cpu native on this machine",
                               nameOf(level), fmt::join(missing, ", "), nameOf(findHostLevel())));
  limitLibraries(libraries.native ? findHostLevel() : level);
  return nullptr;
}

std::unique_ptr<Device> makeCpuDevice(const DeviceSetup &setup, int) { return std::make_unique<CpuDevice>(setup); }

std::unique_ptr<Fabric> joinCpus(const FabricSetup &setup) {
  if (setup.wire)
    return std::make_unique<MessageFabric>(setup.plan, *setup.wire, setup.spins, setup.commons);
  return std::make_unique<SharedFabric>(setup.plan, setup.spins, setup.commons);
}

} // namespace

const Target &linkedTarget() {
  static constexpr Target cpu{describeProcessors, prepareProcessor, makeCpuDevice, joinCpus, /*isHost=*/true};
  return cpu;
}

} // namespace xlc::runtime
