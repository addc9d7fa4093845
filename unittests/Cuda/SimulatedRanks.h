// Ranks of the simulated NCCL by itself: threads of one process, with a device each.
#ifndef XLC_UNITTESTS_CUDA_SIMULATEDRANKS_H
#define XLC_UNITTESTS_CUDA_SIMULATEDRANKS_H

#include "Cuda/Arena.h"
#include "Cuda/Handles.h"
#include "Cuda/Nccl.h"

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace xlc::test {

using namespace runtime;
using namespace runtime::cuda;
using nccl::DataType;
using nccl::Reduction;

/// What all ranks of a test share.
struct Job {
  Job() {
    driver.check(driver.initialize(0), "cuInit");
    nccl.check(nccl.makeId(&id), "ncclGetUniqueId");
  }
  Driver driver{XLC_SIMULATED_LIBRARIES};
  OpenedLibrary file{ncclLibrary, XLC_SIMULATED_LIBRARIES};
  nccl::Library nccl{file};
  nccl::UniqueId id;
};

/// A rank in the communicator of all, with eight floats, all its number + 1, and room for as many of each rank.
struct Rank {
  static constexpr uint64_t count = 8;

  Rank(const Job &job, int ranks, int number)
      : driver(job.driver), nccl(job.nccl), number(number), context(driver, number),
        arena(driver, number, 1 << 16, Sharing::Exportable) {
    nccl::Config config;
    nccl.check(nccl.join(&all, ranks, job.id, number, &config), "ncclCommInitRankConfig");
    write(stream, std::vector<float>(count, float(number + 1)));
    wait();
  }

  char *place(uint64_t at) const { return (char *)(uintptr_t)arena.begin() + at * sizeof(float); } // NOLINT
  char *given() const { return place(0); }
  char *got() const { return place(count); }
  void write(OwnedStream &on, const std::vector<float> &numbers) const {
    driver.check(driver.copyToDevice(arena.begin(), numbers.data(), numbers.size() * sizeof(float), on.get()),
                 "copyToDevice");
  }
  std::vector<float> read(OwnedStream &on, uint64_t numbers) const {
    std::vector<float> bytes(numbers);
    driver.check(driver.copyToHost(bytes.data(), (Address)(uintptr_t)got(), numbers * sizeof(float), on.get()),
                 "copyToHost");
    driver.check(driver.waitForStream(on.get()), "waitForStream");
    return bytes;
  }
  void wait() { driver.check(driver.waitForStream(stream.get()), "waitForStream"); }

  nccl::Status sum(uint64_t numbers = count, DataType type = DataType::F32, Reduction how = Reduction::Sum) {
    return nccl.allReduce(given(), got(), numbers, type, how, all, stream.get());
  }
  nccl::Status gather(uint64_t numbers = count) {
    return nccl.allGather(given(), got(), numbers, DataType::F32, all, stream.get());
  }
  nccl::Status send(int peer, uint64_t numbers = count) {
    return nccl.send(given(), numbers, DataType::F32, peer, all, stream.get());
  }
  nccl::Status receive(int peer, uint64_t numbers = count) {
    return nccl.receive(got(), numbers, DataType::F32, peer, all, stream.get());
  }

  void *registerArena() {
    void *registration = nullptr;
    nccl.check(nccl.registerMemory(all, given(), arena.size(), &registration), "ncclCommRegister");
    return registration;
  }

  const Driver &driver;
  const nccl::Library &nccl;
  const int number;
  OwnedContext context;
  Arena arena;
  OwnedStream stream = makeStream(driver), beside = makeStream(driver);
  nccl::Handle all = nullptr;
};

using Body = std::function<void(Rank &)>;

inline void expect(bool isTrue) {
  if (!isTrue)
    std::exit(1);
}

/// The order of streams is read when a process begins. A body leaves nothing in its stream.
[[noreturn]] inline void runRanks(const char *order, int ranks, const Body &body) {
  setenv("XLC_SIMULATE_ORDER", order, 1);
  setenv("XLC_SIMULATE_DEVICES", "4", 1);
  setenv("XLC_SIMULATE_PATIENCE", "0.5", 1);
  {
    Job job;
    std::vector<std::jthread> threads;
    for (int number = 0; number < ranks; ++number)
      threads.emplace_back([&, number] {
        Rank rank(job, ranks, number);
        body(rank);
        rank.wait();
        if (rank.all)
          expect(rank.nccl.destroy(rank.all) == nccl::Status::Success);
      });
  }
  std::exit(0);
}

} // namespace xlc::test

#endif
