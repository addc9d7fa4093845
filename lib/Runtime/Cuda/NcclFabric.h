// The fabric of GPUs: collectives and messages are NCCL calls on the streams of their actions. Like all operations of a
// device, they may still be in flight when the function returns; later operations wait for them by the plan's
// dependencies.
//
// Sums are computed by NCCL, in an unspecified order, or by Fabric/SliceSums.h in the order of the ranks
// (Plan/Exchanges.h selects). In the latter case terms pass through a bounce block of the device, and kernels of the
// program sum them.
//
// A communicator runs its operations in the order of the host's requests, whatever the stream. Lists of ranks run from
// first to last without a deadlock (xlc/Schedule/Rendezvous.h), so they do here.
//
// Before the first step, the ranks exchange the identities of their GPUs, and rank 0 publishes the id by which NCCL
// connects the ranks: in the commons on one host, or over the wire between several.
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
  /// `spins`: as for waitWhile. `wire`: to ranks on other hosts; null: all ranks share the commons.
  NcclFabric(const Plan &plan, int spins, Commons &commons, Wire *wire);

  /// Called by a rank before the first step, on its thread; returns when all ranks have joined. `sharesGpu`: ranks may
  /// use the same GPU.
  void join(const nccl::Library &library, int rank, CudaDevice &device, bool sharesGpu);

  void exchange(const Exchange &exchange, const Participant &self) override;
  void send(const Message &message, const char *from, const Participant &self) override;
  void receive(const Message &message, char *to, const Participant &self) override;
  void meet(Pulse *pulse) override;

private:
  /// Returns when all ranks have each other's GPU and the id of rank 0.
  void introduce(int rank);
  void checkOwnGpus() const;

  /// Sums in the order of the ranks, on one stream.
  struct OrderedSums {
    NcclBatches batches;
    SliceSums sums;
  };
  /// A rank, and the arguments of its NCCL calls.
  struct Seat {
    const nccl::Library *library = nullptr;
    CudaDevice *device = nullptr;
    std::map<plan::Stream, OrderedSums> ordered; ///< for streams with such sums
  };
  void collect(const Exchange &exchange, const Seat &seat, nccl::Handle communicator, uint64_t ranks) const;
  void allToAll(const Exchange &exchange, const Seat &seat, nccl::Handle communicator, uint64_t ranks) const;
  void sumInOrder(const Exchange &exchange, Seat &seat, nccl::Handle communicator, const Participant &self) const;
  void count(const Exchange &exchange, const Participant &self, uint64_t ranks) const;

  const Plan &plan;
  Commons &commons;
  const Waiter waiter;
  std::optional<WireMeeting> meeting; ///< none: the ranks meet at a barrier
  const Piece<Barrier> everybody;
  const Piece<nccl::UniqueId> id;
  const Piece<Uuid> gpus;                ///< by rank
  std::vector<std::vector<int>> numbers; ///< by group: the numbers of its communicator's ranks: 0, 1, ...
  std::vector<Seat> seats;               ///< by rank
};

} // namespace xlc::runtime::cuda

#endif
