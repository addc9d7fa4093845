// See CpuDevice.h. The threads of the rank divide a move into ranges that begin on cache lines.
#include "CpuDevice.h"

#include "ElementOperations.h"
#include "LibraryProduct.h"

#include <algorithm>
#include <cstring>

namespace xlc::runtime {
namespace {

constexpr uint64_t rangeGrain = 16;          // elements
constexpr uint64_t smallestShare = 64 << 10; // bytes; less is not worth waking a thread for

/// Calls work(run, begin, end) for ranges of `runs` runs of `length` elements, each within one, on the pool's threads.
template <class Work> void share(ThreadPool &pool, uint64_t runs, uint64_t length, uint64_t elementBytes, Work work) {
  uint64_t count = runs * length;
  uint64_t parts = std::clamp<uint64_t>(count * elementBytes / smallestShare, 1, (uint64_t)pool.size());
  uint64_t each = (count / parts + rangeGrain) / rangeGrain * rangeGrain;
  pool.run((int)parts, [&](int part) {
    uint64_t begin = std::min(count, part * each), last = std::min(count, begin + each);
    while (begin < last) {
      uint64_t run = begin / length, from = begin % length, some = std::min(length - from, last - begin);
      work(run, from, from + some);
      begin += some;
    }
  });
}

/// Bytes [begin, end) of a run of a copy.
void copyRange(const Copy &copy, uint64_t run, uint64_t begin, uint64_t end) {
  uint64_t outer = run / copy.rows, row = run % copy.rows;
  auto first = [&](Copy::Steps steps) { return outer * steps.outer + row * steps.row + begin; };
  const char *from = copy.from + first(copy.fromSteps);
  char *to = copy.to + first(copy.toSteps);
  if (from != to)
    std::memcpy(to, from, end - begin);
}

/// Combines elements [begin, end) of a run.
struct RangeCombiner {
  explicit RangeCombiner(const Combination &what)
      : what(what), size(bytesOf(what.element)), combine(findCombination(what.how, what.element, what.wire)) {}

  void operator()(uint64_t run, uint64_t begin, uint64_t end) const {
    uint64_t most = what.copies.empty() ? end - begin : kBlock / size;
    for (uint64_t at = begin; at < end; at += most) {
      uint64_t count = std::min(most, end - at), to = (run * what.count + at) * size;
      combine(what.sources, what.first + run * what.step + at, count, what.to + to, what.add);
      for (char *copy : what.copies)
        std::memcpy(copy + to, what.to + to, count * size);
    }
  }

  static constexpr uint64_t kBlock = 1 << 15; ///< bytes, which are in a cache when they are copied

  const Combination &what;
  uint64_t size;
  CombineRange combine;
};

} // namespace

CpuDevice::CpuDevice(const DeviceSetup &setup)
    : alignment(setup.plan.alignment), pool((int)setup.plan.threads, setup.spins),
      kernels(setup.plan, setup.codes, pool) {}

DeviceMemory CpuDevice::allocate(uint64_t bytes) {
  uint64_t mapped = 0;
  arenas.push_back(std::make_unique<Arena>(bytes, alignment, mapped));
  return {arenas.back()->data(), mapped};
}

DeviceMemory CpuDevice::allocateAt(const SharedPlace &place, uint64_t bytes) {
  uint64_t mapped = 0;
  arenas.push_back(std::make_unique<Arena>(place, bytes, mapped));
  return {arenas.back()->data(), mapped};
}

void CpuDevice::write(char *to, const void *from, uint64_t bytes) { std::memcpy(to, from, bytes); }
void CpuDevice::read(void *to, const char *from, uint64_t bytes) { std::memcpy(to, from, bytes); }
void CpuDevice::fill(char *to, unsigned char value, uint64_t bytes) { std::memset(to, value, bytes); }

void CpuDevice::copy(const Copy &copy) {
  share(pool, copy.outer * copy.rows, copy.bytes, 1,
        [&](uint64_t run, uint64_t begin, uint64_t end) { copyRange(copy, run, begin, end); });
}

void CpuDevice::combine(const Combination &what) {
  RangeCombiner combine(what);
  share(pool, what.runs, what.count, combine.size, combine);
}

void CpuDevice::convert(const Conversion &what) {
  ConvertRange convert = findConversion(what.element, what.other);
  uint64_t from = bytesOf(what.element), to = bytesOf(what.other);
  share(pool, 1, what.count, from, [&](uint64_t, uint64_t begin, uint64_t end) {
    convert(what.from + begin * from, end - begin, what.to + begin * to);
  });
}

void SerialMover::copy(const Copy &copy) {
  for (uint64_t run = 0; run < copy.outer * copy.rows; ++run)
    copyRange(copy, run, 0, copy.bytes);
}

void SerialMover::combine(const Combination &what) {
  RangeCombiner combine(what);
  for (uint64_t run = 0; run < what.runs; ++run)
    combine(run, 0, what.count);
}

void SerialMover::convert(const Conversion &what) {
  findConversion(what.element, what.other)(what.from, what.count, what.to);
}

} // namespace xlc::runtime
