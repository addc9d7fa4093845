// See NcclFabric.h.
#include "NcclFabric.h"

#include "Fabric/Slicing.h"
#include "Plan/Elements.h"
#include "Plan/Exchanges.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

namespace xlc::runtime::cuda {
namespace {

nccl::DataType typeOf(plan::Element element) {
  using nccl::DataType;
  constexpr DataType types[] = {DataType::F32, DataType::F64,  DataType::I64, DataType::I32,
                                DataType::I8,  DataType::BF16, DataType::F16};
  static_assert(std::size(types) == (size_t)plan::Element::MAX + 1);
  return types[(size_t)element];
}

bool isInOrder(const Plan &plan, const Exchange &exchange) {
  return isSummedInOrder(plan.deterministic, exchange.kind, exchange.accumulate, exchange.wire != exchange.element);
}

} // namespace

NcclFabric::NcclFabric(const Plan &plan, int spins, Commons &commons, Wire *wire)
    : plan(plan), commons(commons), waiter(commons, spins), everybody(commons.reserve<Barrier>()),
      id(commons.reserve<nccl::UniqueId>()), gpus(commons.reserve<Uuid>(rankCount(plan))), seats(rankCount(plan)) {
  for (const auto &group : plan.rank_groups)
    std::iota(numbers.emplace_back(groupSize(*group)).begin(), numbers.back().end(), 0);
  if (wire)
    meeting.emplace(*wire, commons, spins);
}

void NcclFabric::meet(Pulse *pulse) {
  if (meeting)
    meeting->meet(pulse);
  else
    waiter.wait(commons.at(everybody), rankCount(plan), pulse);
}

void NcclFabric::introduce(int rank) {
  if (!meeting)
    return meet(nullptr);
  constexpr size_t ofId = sizeof(nccl::UniqueId) / sizeof(uint64_t), ofGpu = sizeof(Uuid) / sizeof(uint64_t);
  static_assert(sizeof(nccl::UniqueId) % sizeof(uint64_t) == 0 && sizeof(Uuid) % sizeof(uint64_t) == 0);
  std::vector<uint64_t> own(ofId + rankCount(plan) * ofGpu); // what is another's is 0, and the largest is taken
  if (rank == 0)
    std::memcpy(own.data(), &commons.at(id), sizeof(nccl::UniqueId));
  std::memcpy(&own[ofId + (size_t)rank * ofGpu], &commons.at(gpus, (uint64_t)rank), sizeof(Uuid));
  std::span<const uint64_t> all = meeting->share(own, nullptr);
  std::memcpy(&commons.at(id), all.data(), sizeof(nccl::UniqueId));
  std::memcpy(&commons.at(gpus), &all[ofId], rankCount(plan) * sizeof(Uuid));
}

void NcclFabric::join(const nccl::Library &library, int rank, CudaDevice &device, bool sharesGpu) {
  commons.at(gpus, (uint64_t)rank) = device.uuid();
  if (rank == 0)
    library.check(library.makeId(&commons.at(id)), "ncclGetUniqueId");
  introduce(rank);
  if (!sharesGpu)
    checkOwnGpus();
  device.setCommunicators(std::make_unique<Communicators>(library, plan, commons.at(id), rank, commons.stop()));
  Seat &seat = seats[(size_t)rank];
  seat.library = &library, seat.device = &device;
  auto prepareSum = [&](const plan::ExchangeT &exchange, plan::Stream stream) {
    if (isSummedInOrder(plan, exchange) && !seat.ordered.contains(stream))
      seat.ordered.emplace(
          stream, OrderedSums{NcclBatches(library), {device.allocateBounce(bounceBytesOfGpus), bounceBytesOfGpus}});
  };
  forEachProgram(plan, stageOf(plan, rank),
                 [&](const plan::ProgramT &program) { forEachExchange(plan, program, prepareSum); });
}

/// Processes may be started so that they see the same one. All find out.
void NcclFabric::checkOwnGpus() const {
  for (uint64_t second = 0; second < rankCount(plan); ++second)
    for (uint64_t first = 0; first < second; ++first)
      if (commons.at(gpus, first) == commons.at(gpus, second))
        throw Rejected(fmt::format(
            "error: ranks {} and {} have the same GPU: each rank needs its own (CUDA_VISIBLE_DEVICES)", first, second));
}

void NcclFabric::exchange(const Exchange &exchange, const Participant &self) {
  commons.stop().throwIfRaised();
  Seat &seat = seats[(size_t)self.rank];
  uint64_t ranks = groupSize(*plan.rank_groups[exchange.group]);
  nccl::Handle communicator = seat.device->communicators().ofGroup(exchange.group);
  if (isInOrder(plan, exchange))
    return sumInOrder(exchange, seat, communicator, self);
  if (ranks == 1)
    return self.mover.copy(
        {exchange.src, exchange.dst, exchange.outer * exchange.chunk * exchange.rows * bytesOf(exchange.element)});
  if (exchange.kind == plan::CollectiveKind::all_to_all)
    seat.library->group([&] { allToAll(exchange, seat, communicator, ranks); });
  else
    seat.library->group([&] { collect(exchange, seat, communicator, ranks); });
  count(exchange, self, ranks);
}

/// A call for each run.
void NcclFabric::collect(const Exchange &exchange, const Seat &seat, nccl::Handle communicator, uint64_t ranks) const {
  const nccl::Library &library = *seat.library;
  nccl::DataType type = typeOf(exchange.element);
  Stream stream = seat.device->stream();
  uint64_t bytes = exchange.chunk * bytesOf(exchange.element);
  auto reduction = combinationOf(exchange) == Combine::Largest ? nccl::Reduction::Max : nccl::Reduction::Sum;
  switch (exchange.kind) {
  case plan::CollectiveKind::all_reduce:
  case plan::CollectiveKind::all_reduce_max:
    return library.check(library.allReduce(exchange.src, exchange.dst, exchange.outer * exchange.chunk, type, reduction,
                                           communicator, stream),
                         "ncclAllReduce");
  case plan::CollectiveKind::all_gather:
    for (uint64_t run = 0; run < exchange.outer; ++run)
      library.check(library.allGather(exchange.src + run * bytes, exchange.dst + run * ranks * bytes, exchange.chunk,
                                      type, communicator, stream),
                    "ncclAllGather");
    return;
  case plan::CollectiveKind::reduce_scatter:
    for (uint64_t run = 0; run < exchange.outer; ++run)
      library.check(library.reduceScatter(exchange.src + run * ranks * bytes, exchange.dst + run * bytes,
                                          exchange.chunk, type, reduction, communicator, stream),
                    "ncclReduceScatter");
    return;
  case plan::CollectiveKind::all_to_all:
    break;
  }
}

/// To and from every rank, also this one, the chunks that Collectives::allToAll copies.
void NcclFabric::allToAll(const Exchange &exchange, const Seat &seat, nccl::Handle communicator, uint64_t ranks) const {
  const nccl::Library &library = *seat.library;
  uint64_t rows = exchange.rows, bytes = exchange.chunk * bytesOf(exchange.element);
  auto place = [&](bool ranksFirst, uint64_t outer, uint64_t row, uint64_t rank) {
    return outer * ranks * rows * bytes + row * (ranksFirst ? 1 : ranks) * bytes +
           rank * (ranksFirst ? rows : 1) * bytes;
  };
  nccl::DataType type = typeOf(exchange.element);
  for (uint64_t outer = 0; outer < exchange.outer; ++outer)
    for (uint64_t row = 0; row < rows; ++row)
      for (uint64_t peer = 0; peer < ranks; ++peer) {
        library.check(library.send(exchange.src + place(exchange.ranksFirst, outer, row, peer), exchange.chunk, type,
                                   (int)peer, communicator, seat.device->stream()),
                      "ncclSend");
        library.check(library.receive(exchange.dst + place(!exchange.ranksFirst, outer, row, peer), exchange.chunk,
                                      type, (int)peer, communicator, seat.device->stream()),
                      "ncclRecv");
      }
}

void NcclFabric::sumInOrder(const Exchange &exchange, Seat &seat, nccl::Handle communicator,
                            const Participant &self) const {
  const plan::RankGroupT &group = *plan.rank_groups[exchange.group];
  auto &[batches, sums] = seat.ordered.at(exchange.stream);
  batches.use(communicator, seat.device->stream());
  MovedBytes &moved = self.moved[group.axis];
  bool scatters = exchange.kind == plan::CollectiveKind::reduce_scatter;
  Circle circle{numbers[exchange.group], indexIn(group, plan, self.rank), /*tag=*/0,
                scatters ? moved.reduceScatter : moved.allReduce};
  if (scatters)
    sums.scatter(exchange, circle, batches, self);
  else
    sums.share(exchange, circle, batches, self);
}

/// As where memory is shared: NCCL does not tell.
void NcclFabric::count(const Exchange &exchange, const Participant &self, uint64_t ranks) const {
  const plan::RankGroupT &group = *plan.rank_groups[exchange.group];
  MovedBytes &moved = self.moved[group.axis];
  uint64_t bytes = (ranks - 1) * exchange.outer * exchange.chunk * bytesOf(exchange.element);
  switch (exchange.kind) {
  case plan::CollectiveKind::all_reduce:
  case plan::CollectiveKind::all_reduce_max: {
    Slicing slicing = sliceOf(exchange, ranks);
    uint64_t own = slicing.length(indexIn(group, plan, self.rank));
    moved.allReduce += ((ranks - 1) * own + slicing.run - own) * bytesOf(exchange.element);
    return;
  }
  case plan::CollectiveKind::all_gather:
    moved.allGather += bytes;
    return;
  case plan::CollectiveKind::reduce_scatter:
    moved.reduceScatter += bytes;
    return;
  case plan::CollectiveKind::all_to_all:
    moved.allToAll += exchange.rows * bytes;
    return;
  }
}

void NcclFabric::send(const Message &message, const char *from, const Participant &self) {
  commons.stop().throwIfRaised();
  const Seat &seat = seats[(size_t)self.rank];
  seat.library->check(seat.library->send(from, message.bytes, nccl::DataType::I8, (int)message.peer,
                                         seat.device->communicators().ofStages(), seat.device->stream()),
                      "ncclSend");
}

void NcclFabric::receive(const Message &message, char *to, const Participant &self) {
  commons.stop().throwIfRaised();
  const Seat &seat = seats[(size_t)self.rank];
  seat.library->check(seat.library->receive(to, message.bytes, nccl::DataType::I8, (int)message.peer,
                                            seat.device->communicators().ofStages(), seat.device->stream()),
                      "ncclRecv");
  self.moved[plan::Axis::pp].transfer += message.bytes;
}

} // namespace xlc::runtime::cuda
