// A rank's communicators: one for each of its groups in the plan that has other members, and one for its counterparts
// on other stages. All are split from that of the world, group after group, in the plan's order, which is the same on
// every rank.
#ifndef XLC_LIB_RUNTIME_CUDA_COMMUNICATORS_H
#define XLC_LIB_RUNTIME_CUDA_COMMUNICATORS_H

#include "Driver.h"
#include "Failure.h"
#include "Nccl.h"
#include "Plan/Ranks.h"

#include <vector>

namespace xlc::runtime::cuda {

class Communicators {
public:
  /// Returns when all ranks have connected. The rank's device must be current.
  Communicators(const nccl::Library &library, const Plan &plan, const nccl::UniqueId &id, int rank,
                const StopSignal &stop);
  /// Aborts operations in flight.
  ~Communicators();
  Communicators(const Communicators &) = delete;

  /// The communicator by group of the plan; null: the rank is its only member, or not a member.
  nccl::Handle ofGroup(uint32_t group) const { return groups[group]; }
  /// The communicator in which a rank's number is its stage; null: there is one stage.
  nccl::Handle ofStages() const { return stages; }

  /// Registers memory of this rank with each communicator that is used by calls. The memory outlives the communicators.
  /// All memory used by calls is registered on all ranks, or none is. Throws DeviceFailure.
  void registerMemory(Address begin, uint64_t bytes);

  /// Must be called repeatedly while the host waits for the device. Throws Stopped if the job ends, DeviceFailure if
  /// the library has detected that another rank does not respond.
  void checkOthers() const;
  /// Call when all operations have ended. Errors in the release are ignored, because the results of training are
  /// complete.
  void destroy();

private:
  nccl::Handle split(int colour, int key);
  void abort() noexcept;

  const nccl::Library &library;
  const StopSignal &stop;
  std::vector<nccl::Handle> all; ///< that of the world first
  std::vector<nccl::Handle> groups;
  nccl::Handle stages = nullptr;
  struct Registration {
    nccl::Handle communicator;
    void *number;
  };
  std::vector<Registration> registered;
};

} // namespace xlc::runtime::cuda

#endif
