// The fabric of GPUs: collectives and messages are calls of NCCL on the streams of their actions. They are under way when they
// have returned, like all that a device does; what comes after them waits for them by the plan's dependencies.
//
// Sums are NCCL's own, in whatever order it likes, or those of Fabric/SliceSums.h in the order of the ranks (Plan/Exchanges.h says
// which): terms go through a bounce block of the device, and kernels of the program sum them.
//
// A communicator does what it is asked for in the order in which the host asks, whatever the stream. Lists of ranks run from
// first to last without a deadlock (xlc/Schedule/Rendezvous.h), so they do here.
//
// Before the first step ranks tell each other which GPU is theirs, and rank 0 the id by which NCCL finds the others: in the commons of
// one host, or over the wire between several.
#ifndef XLC_LIB_RUNTIME_CUDA_NCCLFABRIC_H
#define XLC_LIB_RUNTIME_CUDA_NCCLFABRIC_H

#include "CudaDevice.h"
#include "Fabric/SliceSums.h"
#include "Fabric/WireMeeting.h"
#include "NcclBatches.h"

#include <map>
#include <optional>

namespace xlc::runtime::cuda {

class NcclFabric final : public Fabric {
public:
  /// `spins`: as for waitWhile. `wire`: to ranks on other hosts; null: all see the commons.
  NcclFabric(const Plan &plan, int spins, Commons &commons, Wire *wire);

  /// Of a rank, before the first step, on its thread; returns when all have come. `sharesGpu`: ranks may have the same.
  void join(const nccl::Library &library, int rank, CudaDevice &device, bool sharesGpu);

  void exchange(const Exchange &exchange, const Participant &self) override;
  void send(const Message &message, const char *from, const Participant &self) override;
  void receive(const Message &message, char *to, const Participant &self) override;
  void meet(Pulse *pulse) override;

private:
  /// Returns when all ranks know each other's GPU, and the id of rank 0.
  void introduce(int rank);
  void checkOwnGpus() const;

  /// Sums in the order of the ranks, on one stream.
  struct OrderedSums {
    NcclBatches batches;
    SliceSums sums;
  };
  /// A rank, and what it calls NCCL with.
  struct Seat {
    const nccl::Library *library = nullptr;
    CudaDevice *device = nullptr;
    std::map<plan::Stream, OrderedSums> ordered; ///< of streams that have some
  };
  void collect(const Exchange &exchange, const Seat &seat, nccl::Handle communicator, uint64_t ranks) const;
  void allToAll(const Exchange &exchange, const Seat &seat, nccl::Handle communicator, uint64_t ranks) const;
  void sumInOrder(const Exchange &exchange, Seat &seat, nccl::Handle communicator, const Participant &self) const;
  void count(const Exchange &exchange, const Participant &self, uint64_t ranks) const;

  const Plan &plan;
  Commons &commons;
  const Waiter waiter;
  std::optional<WireMeeting> meeting; ///< none: ranks meet at a barrier
  const Piece<Barrier> everybody;
  const Piece<nccl::UniqueId> id;
  const Piece<Uuid> gpus;                ///< by rank
  std::vector<std::vector<int>> numbers; ///< by group, of its communicator's ranks: 0, 1, ...
  std::vector<Seat> seats;               ///< by rank
};

} // namespace xlc::runtime::cuda

#endif
