// Messages of sums in the order of the ranks, as groups of NCCL calls on the stream of their action. Operations in
// flight end on that stream before later ones begin, so the host does not wait.
#ifndef XLC_LIB_RUNTIME_CUDA_NCCLBATCHES_H
#define XLC_LIB_RUNTIME_CUDA_NCCLBATCHES_H

#include "Driver.h"
#include "Fabric/Batches.h"
#include "Nccl.h"

namespace xlc::runtime::cuda {

class NcclBatches final : public Batches {
public:
  explicit NcclBatches(const nccl::Library &library) : library(library) {}

  /// Sets the communicator and stream of the following posts; peers are numbers of the communicator.
  void use(nccl::Handle given, Stream on) {
    communicator = given, stream = on;
    next.clear(); // of a call that has failed
  }

  void post(unsigned) override {
    if (next.empty())
      return;
    library.group([&] {
      for (const Posting &each : next)
        for (uint64_t outer = 0; outer < each.memory.outer; ++outer)
          for (uint64_t row = 0; row < each.memory.rows; ++row)
            put(each, each.memory.begin + outer * each.memory.steps.outer + row * each.memory.steps.row);
    });
    next.clear();
  }
  void wait(unsigned, Pulse *) override {}

private:
  void put(const Posting &each, char *at) const {
    uint64_t bytes = each.memory.bytes;
    if (each.way == Posting::Way::Send)
      library.check(library.send(at, bytes, nccl::DataType::I8, each.peer, communicator, stream), "ncclSend");
    else
      library.check(library.receive(at, bytes, nccl::DataType::I8, each.peer, communicator, stream), "ncclRecv");
  }

  const nccl::Library &library;
  nccl::Handle communicator = nullptr;
  Stream stream = nullptr;
};

} // namespace xlc::runtime::cuda

#endif
