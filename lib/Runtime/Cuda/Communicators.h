// A rank's communicators: one for each group of the plan in which it is with others, one for the ranks like it on other stages.
// All are split from the world's, group after group, in the plan's order: the same on every rank.
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
  /// Returns when all ranks have come. The rank's device is current.
  Communicators(const nccl::Library &library, const Plan &plan, const nccl::UniqueId &id, int rank,
                const StopSignal &stop);
  /// Ends what is under way.
  ~Communicators();
  Communicators(const Communicators &) = delete;

  /// By group of the plan; null: the rank is alone in it, or in none.
  nccl::Handle ofGroup(uint32_t group) const { return groups[group]; }
  /// Where a rank's number is its stage; null: there is one stage.
  nccl::Handle ofStages() const { return stages; }

  /// Memory of this rank, with each communicator in which there are calls. It outlives them; all that calls have is registered, or
  /// nothing, on all ranks. Throws DeviceFailure.
  void registerMemory(Address begin, uint64_t bytes);

  /// To be called again and again while the host waits for the device: throws Stopped where the job ends, DeviceFailure where
  /// the library has noticed that another rank does not answer.
  void checkOthers() const;
  /// When all that was asked for is done. What cannot be given back is left: what was trained is there.
  void destroy();

private:
  nccl::Handle split(int colour, int key);
  void abort() noexcept;

  const nccl::Library &library;
  const StopSignal &stop;
  std::vector<nccl::Handle> all; ///< the world's first
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
