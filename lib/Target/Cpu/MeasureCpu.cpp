// Each figure is a round that all cores begin together; a round's time is that of the slowest, and the best round counts.
#include "MeasureCpu.h"

#include "Cpu/Contract.h"
#include "Cpu/LibraryProduct.h"
#include "Cpu/ThreadPool.h"

#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace xlc;
using namespace xlc::runtime;

namespace {

constexpr int kRounds = 5;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds of the best of some rounds in which every core does the work that `make` makes for it.
template <class Make> double timeOnAllCores(int cores, Make make) {
  std::barrier<> together(cores + 1);
  std::vector<std::thread> threads;
  threads.reserve(size_t(cores));
  for (int core = 0; core < cores; ++core)
    threads.emplace_back([&] {
      useOneLibraryThread();
      auto work = make();
      for (int round = 0; round <= kRounds; ++round) {
        together.arrive_and_wait();
        work();
        together.arrive_and_wait();
      }
    });
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= kRounds; ++round) { // the first one touches memory for the first time
    double begin = now();                          // the others have been here since the round before
    together.arrive_and_wait();
    together.arrive_and_wait();
    if (round > 0)
      best = std::min(best, now() - begin);
  }
  for (std::thread &thread : threads)
    thread.join();
  return best;
}

/// FLOP/s of one core on a product of a transformer's size.
double measureProducts(int cores, FloatType type) {
  constexpr int64_t rows = 256, in = 768, out = 3072;
  constexpr int times = 4;
  double seconds = timeOnAllCores(cores, [&] {
    ContractShape shape{rows, out, in, in, 1, out, 1, out, 1, {}};
    shape.operands = shape.result = type;
    auto contraction = std::make_shared<Contraction>(shape, 1, false);
    size_t width = size_t(bytesOf(type));
    auto a = std::make_shared<std::vector<char>>(rows * in * width),
         b = std::make_shared<std::vector<char>>(in * out * width),
         y = std::make_shared<std::vector<char>>(rows * out * width);
    constexpr size_t line = 64; // bytes: scratch is a multiple of it
    std::shared_ptr<void> scratch(std::aligned_alloc(line, std::max<size_t>(line, size_t(contraction->scratch()))),
                                  std::free);
    return [=] {
      for (int i = 0; i < times; ++i)
        contraction->run(0, a->data(), b->data(), nullptr, y->data(), (char *)scratch.get());
    };
  });
  return times * 2.0 * double(rows * in * out) / seconds;
}

constexpr size_t kSweep = size_t(1) << 24; // elements, far beyond caches

/// Bytes per second of one core that reads two arrays and writes one of them.
double measureBandwidth(int cores) {
  double seconds = timeOnAllCores(cores, [] {
    auto x = std::make_shared<std::vector<float>>(kSweep, 1.0f), y = std::make_shared<std::vector<float>>(kSweep, 1.0f);
    return [=] {
      float *to = y->data();
      const float *from = x->data();
      for (size_t i = 0; i < kSweep; ++i)
        to[i] = 0.5f * to[i] + from[i];
      asm volatile("" : : "r"(to) : "memory"); // or the sums, which nobody reads, are left out
    };
  });
  return 3.0 * sizeof(float) * kSweep / seconds;
}

/// Bytes per second that one core copies from memory that is not its own.
double measureCopies(int cores) {
  auto source = std::make_shared<std::vector<char>>(kSweep * sizeof(float), 1);
  double seconds = timeOnAllCores(cores, [&] {
    auto to = std::make_shared<std::vector<char>>(source->size());
    return [=] {
      std::memcpy(to->data(), source->data(), source->size());
      asm volatile("" : : "r"(to->data()) : "memory"); // likewise
    };
  });
  return double(source->size()) / seconds;
}

/// Seconds that threads of a rank take for a task that does nothing.
double measureCall(int cores) {
  constexpr int times = 2000;
  ThreadPool pool(cores, 50, useOneLibraryThread);
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    double begin = now();
    for (int i = 0; i < times; ++i)
      pool.run(cores, [](int) {});
    best = std::min(best, (now() - begin) / times);
  }
  return best;
}

} // namespace

Device xlc::measureCpu(int cores) {
  Device device;
  device.name = "this machine";
  device.cores = cores;
  device.products = {measureProducts(cores, FloatType::F32), measureProducts(cores, FloatType::BF16),
                     measureProducts(cores, FloatType::F16)};
  device.bandwidth = measureBandwidth(cores);
  device.call = measureCall(cores);
  device.node = {measureCopies(cores), 2 * device.call}; // all meet before a message, and after it
  return device;
}
