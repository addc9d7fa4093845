// Each figure is measured in rounds that all cores begin together; a round's time is that of the slowest core, and the
// best round counts.
#include "MeasureCpu.h"

#include "Cpu/Contract.h"
#include "Cpu/LibraryProduct.h"
#include "Cpu/ThreadPool.h"
#include "Fabric/Waiting.h"

#include <array>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace xlc;
using namespace xlc::runtime;

namespace {

constexpr int kRounds = 5;
/// No further round of short tasks begins after this time: other load may slow each task down.
constexpr double kMostSeconds = 1;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds of the best of some rounds in which every core does the work that `make` makes for it.
template <class Make> double timeOnAllCores(int cores, Make make) {
  std::barrier<> together(cores + 1);
  std::vector<std::thread> threads;
  threads.reserve(size_t(cores));
  for (int core = 0; core < cores; ++core)
    threads.emplace_back([&] {
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

/// A product y[rows, out] of x[rows, in] and w[in, out].
struct Product {
  int64_t rows, in, out;
  int times;   ///< how often a round has each form
  int weights; ///< how many matrices w take turns

  double flops() const { return 2.0 * double(rows) * double(in) * double(out); }
  double bytes(FloatType type) const { return double(bytesOf(type)) * double(rows * in + in * out + rows * out); }
};
/// Of a transformer's size, whose weights take turns, so that they are seldom in a cache, and of a small one's.
constexpr Product kLarge = {1024, 768, 3072, 2, 2}, kSmall = {128, 64, 192, 400, 1};
constexpr double kFastestPacking = 1e12; ///< bytes per second: no time that counts
constexpr double kMostPacking = 0.5;     ///< of the large product's time: a small one may run in other code

/// How training multiplies x[rows, in], w[in, out] and dy[rows, out].
std::array<ContractShape, 3> formsOf(const Product &product) {
  int64_t rows = product.rows, in = product.in, out = product.out;
  return {{{rows, out, in, in, 1, out, 1, out, 1, {}},   // y = x w
           {rows, in, out, out, 1, 1, out, in, 1, {}},   // dx = dy wᵀ
           {in, out, rows, 1, in, out, 1, out, 1, {}}}}; // dw = xᵀ dy
}

/// Seconds that a core takes for a product, the mean of its forms.
double measureProduct(int cores, const Product &product, FloatType type) {
  double seconds = timeOnAllCores(cores, [&] {
    std::vector<Contraction> forms;
    int64_t workspaceBytes = 0;
    for (ContractShape shape : formsOf(product)) {
      shape.operands = shape.result = type;
      forms.emplace_back(shape, 1, false);
      workspaceBytes = std::max(workspaceBytes, forms.back().workspace());
    }
    // In each form one of the three is the result.
    auto make = [&](int64_t elements) { return std::vector<char>(elements * size_t(bytesOf(type))); };
    std::vector<char> x = make(product.rows * product.in), y = make(product.rows * product.out);
    std::vector<std::vector<char>> w(product.weights, make(product.in * product.out));
    constexpr size_t line = 64; // bytes: a workspace is a multiple of it
    std::shared_ptr<void> workspace(std::aligned_alloc(line, std::max<size_t>(line, size_t(workspaceBytes))),
                                    std::free);
    return [times = product.times, workspace, x = std::move(x), y = std::move(y), w = std::move(w),
            forms = std::make_shared<std::vector<Contraction>>(std::move(forms))]() mutable {
      for (int i = 0; i < times; ++i) {
        char *weight = w[i % w.size()].data(), *at = (char *)workspace.get();
        auto run = [&](size_t form, const char *left, const char *right, char *result) {
          const Contraction &contraction = (*forms)[form];
          for (int64_t piece = 0; piece < contraction.pieces(); ++piece) {
            contraction.pack(piece, 0, right, at);
            contraction.run(piece, 0, left, right, nullptr, result, at);
          }
        };
        run(0, x.data(), weight, y.data());
        run(1, y.data(), weight, x.data());
        run(2, x.data(), y.data(), weight);
      }
    };
  });
  return seconds / (double(product.times) * double(formsOf(product).size()));
}

/// The two rates of which the times of both products are made: of their arithmetic and of their bytes.
void measureProducts(Device &device, ProductType productType, FloatType type) {
  double large = measureProduct(int(device.cores), kLarge, type),
         small = measureProduct(int(device.cores), kSmall, type);
  double manyBytes = kLarge.bytes(type), fewBytes = kSmall.bytes(type);
  double perByte =
      (small * kLarge.flops() - large * kSmall.flops()) / (fewBytes * kLarge.flops() - manyBytes * kSmall.flops());
  perByte = std::clamp(perByte, 1 / kFastestPacking, kMostPacking * large / manyBytes);
  device.packing[size_t(productType)] = 1 / perByte;
  device.products[size_t(productType)] = kLarge.flops() / (large - manyBytes * perByte);
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

/// Seconds that so many threads of a rank take for a task that does nothing.
double measureCall(int threads, int cores) {
  constexpr int times = 2000;
  ThreadPool pool(threads, spinsFor(cores));
  double best = std::numeric_limits<double>::infinity(), end = now() + kMostSeconds;
  for (int round = 0; round < kRounds && (round == 0 || now() < end); ++round) {
    double begin = now();
    for (int i = 0; i < times; ++i)
      pool.run(threads, [](int) {});
    best = std::min(best, (now() - begin) / times);
  }
  return best;
}

/// Seconds of a message that has no bytes: so many ranks meet before it, and after it.
double measureMessage(int ranks) {
  constexpr int times = 2000;
  double best = std::numeric_limits<double>::infinity(), end = now() + kMostSeconds;
  for (int round = 0; round < kRounds && (round == 0 || now() < end); ++round) {
    Barrier barrier;
    StopSignal never;
    auto meet = [&, spins = spinsFor(ranks)] {
      for (int i = 0; i < 2 * times; ++i)
        if (uint32_t closed; barrier.arrive(uint32_t(ranks), Reach::Process, closed))
          waitWhile(barrier.generation, closed, spins, never);
    };
    double begin = now();
    std::vector<std::thread> threads;
    threads.reserve(size_t(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back(meet);
    for (std::thread &thread : threads)
      thread.join();
    best = std::min(best, (now() - begin) / times);
  }
  return best;
}

} // namespace

Device xlc::measureCpu(int cores) {
  Device device;
  device.name = "this machine";
  device.cores = cores;
  measureProducts(device, ProductType::F32, FloatType::F32);
  measureProducts(device, ProductType::BF16, FloatType::BF16);
  measureProducts(device, ProductType::F16, FloatType::F16);
  device.bandwidth = measureBandwidth(cores);
  device.call = measureCall(1, cores);
  device.meeting = std::max(0.0, measureCall(cores, cores) - device.call);
  device.node = {measureCopies(cores), measureMessage(std::max(2, cores))};
  device.crowding = std::max(0.0, measureMessage(2 * cores) - device.node.latency);
  return device;
}
