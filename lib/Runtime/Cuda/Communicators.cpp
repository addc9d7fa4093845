// See Communicators.h.
#include "Communicators.h"

#include <utility>

namespace xlc::runtime::cuda {

Communicators::Communicators(const nccl::Library &library, const Plan &plan, const nccl::UniqueId &id, int rank,
                             const StopSignal &stop)
    : library(library), stop(stop) {
  try {
    nccl::Config config;
    library.check(library.join(&all.emplace_back(), (int)rankCount(plan), id, rank, &config), "ncclCommInitRankConfig");
    uint32_t stage = stageOf(plan, rank);
    for (const auto &group : plan.rank_groups) {
      bool isIn = takesPart(*group, stage) && groupSize(*group) > 1;
      groups.push_back(isIn ? split(membersOf(*group, plan, rank)[0], (int)indexIn(*group, plan, rank))
                            : split(nccl::noColour, 0));
    }
    if (plan.mesh->pp() > 1)
      stages = split(rank % (int)stageRanks(plan), (int)stage);
  } catch (...) {
    abort();
    throw;
  }
}

Communicators::~Communicators() { abort(); }

nccl::Handle Communicators::split(int colour, int key) {
  stop.throwIfRaised();
  nccl::Handle made = nullptr;
  nccl::Config config;
  library.check(library.split(all[0], colour, key, &made, &config), "ncclCommSplit");
  if (made)
    all.push_back(made);
  return made;
}

void Communicators::registerMemory(Address begin, uint64_t bytes) {
  for (size_t i = 1; i < all.size(); ++i) { // in the world's there are no calls
    void *number = nullptr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are numbers
    library.check(library.registerMemory(all[i], (void *)begin, bytes, &number), "ncclCommRegister");
    registered.push_back({all[i], number});
  }
}

void Communicators::checkOthers() const {
  stop.throwIfRaised();
  for (nccl::Handle each : all) {
    auto status = nccl::Status::Success;
    library.check(library.getAsyncError(each, &status), "ncclCommGetAsyncError");
    if (status != nccl::Status::InProgress)
      library.check(status, "NCCL, while a rank waits for others");
  }
}

void Communicators::destroy() {
  for (auto [communicator, number] : std::exchange(registered, {}))
    library.deregister(communicator, number);
  while (!all.empty()) { // those that were split off first
    nccl::Handle last = all.back();
    all.pop_back();
    if (library.destroy(last) != nccl::Status::Success)
      return abort();
  }
}

/// As a group: each waits for what it has on the device, which may wait for what another one has.
void Communicators::abort() noexcept {
  if (all.empty())
    return;
  library.beginGroup();
  for (; !all.empty(); all.pop_back())
    if (all.back())
      library.abort(all.back());
  library.endGroup();
}

} // namespace xlc::runtime::cuda
