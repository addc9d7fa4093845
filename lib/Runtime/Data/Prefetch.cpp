// See Prefetch.h. A slot belongs to the reader until its load is filled, then to the rank until the load is taken. The
// mutex guards only the two counts.
#include "Prefetch.h"

#include "Failure.h"
#include "Plan/Ranks.h"

namespace xlc::runtime {
namespace {

constexpr auto prefetchTick = std::chrono::milliseconds(50);

uint64_t loadBytes(const Plan &plan, uint32_t input) {
  const plan::InputT &row = *plan.inputs[input];
  return rowsOf(plan, row) * rowElements(row) * bytesOf(row.element);
}

} // namespace

struct Prefetch::Ring {
  struct Load {
    uint32_t microBatch;
    std::vector<uint32_t> inputs;
    std::vector<uint64_t> places; ///< of each in its slot, and the end
  };
  int rank = 0;
  std::vector<Load> loads; ///< of a step
  ReadAhead extent;
  std::vector<char> memory;
  struct Failure {
    std::exception_ptr why;
    size_t position = 0; ///< of the input of the load
  };
  std::vector<Failure> failures;  ///< by slot
  uint64_t filled = 0, taken = 0; ///< loads
  size_t position = 0;            ///< inputs that are taken of the load

  char *slotOf(uint64_t load) { return memory.data() + load % extent.loads * extent.bytesOfLoad; }
  const Load &of(uint64_t load) const { return loads[load % loads.size()]; }
  uint64_t stepOf(uint64_t load) const { return load / loads.size(); }
};

Prefetch::Prefetch(const Plan &plan, const Data &data, const StopSignal &stop)
    : plan(plan), data(data), stop(stop), rings(rankCount(plan)), through(std::make_unique<Blocks>()) {}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  hasRoom.notify_all();
  if (thread.joinable())
    thread.join();
}

void Prefetch::reserve(int first, int count) {
  for (int rank = first; rank < first + count; ++rank) {
    auto ring = std::make_unique<Ring>();
    ring->rank = rank;
    uint64_t largest = 0;
    for (const auto &step : trainingProgramOf(plan, rank).steps)
      if (const auto *load = step->action.AsLoad()) {
        Ring::Load &made = ring->loads.emplace_back(Ring::Load{load->micro_batch, load->inputs, {0}});
        for (uint32_t input : load->inputs)
          made.places.push_back(made.places.back() + loadBytes(plan, input));
        largest = std::max(largest, made.places.back());
      }
    if (ring->loads.empty())
      continue;
    ring->extent = readAheadOf(ring->loads.size(), largest, rankCount(plan));
    ring->memory.resize(ring->extent.bytes()), ring->failures.resize(ring->extent.loads);
    rings[rank] = std::move(ring);
  }
}

void Prefetch::start(uint64_t begin, uint64_t end) {
  for (const auto &ring : rings)
    if (ring)
      ring->filled = ring->taken = begin * ring->loads.size();
  steps = std::max(begin, end);
  thread = std::thread([this] { read(); });
}

uint64_t Prefetch::bytesOf(int rank) const { return rings[rank] ? rings[rank]->memory.size() : 0; }

/// Of the rings with room, the one that is the fewest steps ahead.
Prefetch::Ring *Prefetch::findNext() const {
  Ring *next = nullptr;
  for (const auto &ring : rings) {
    if (!ring || ring->filled - ring->taken == ring->extent.loads || ring->stepOf(ring->filled) == steps)
      continue;
    if (!next || ring->stepOf(ring->filled) < next->stepOf(next->filled))
      next = ring.get();
  }
  return next;
}

void Prefetch::read() {
  std::unique_lock lock(mutex);
  while (!isEnding) {
    Ring *next = findNext();
    if (!next) {
      hasRoom.wait(lock);
      continue;
    }
    lock.unlock();
    fill(*next);
    lock.lock();
    ++next->filled;
    isFilled.notify_all();
  }
}

void Prefetch::fill(Ring &ring) {
  const Ring::Load &load = ring.of(ring.filled);
  Ring::Failure &failure = ring.failures[ring.filled % ring.extent.loads];
  failure = {};
  RowSink sink(ring.slotOf(ring.filled));
  try {
    for (; failure.position < load.inputs.size(); ++failure.position)
      data.load(load.inputs[failure.position], ring.stepOf(ring.filled), load.microBatch, ring.rank, sink, *through);
  } catch (...) {
    failure.why = std::current_exception();
  }
}

void Prefetch::load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const {
  Ring *ring = rings[rank].get();
  std::unique_lock lock(mutex);
  auto isNext = [&] {
    const Ring::Load &next = ring->of(ring->taken);
    return ring->stepOf(ring->taken) == step && next.microBatch == microBatch && next.inputs[ring->position] == input;
  };
  if (!ring || step >= steps || !isNext()) {
    lock.unlock();
    return data.load(input, step, microBatch, rank, take);
  }
  while (ring->filled == ring->taken) {
    stop.throwIfRaised();
    isFilled.wait_for(lock, prefetchTick);
  }
  lock.unlock();
  if (const Ring::Failure &failure = ring->failures[ring->taken % ring->extent.loads];
      failure.why && failure.position == ring->position)
    std::rethrow_exception(failure.why);
  const Ring::Load &next = ring->of(ring->taken);
  uint64_t place = next.places[ring->position];
  take(ring->slotOf(ring->taken) + place, next.places[ring->position + 1] - place);
  if (++ring->position < next.inputs.size())
    return;
  ring->position = 0;
  lock.lock();
  ++ring->taken;
  lock.unlock();
  hasRoom.notify_one();
}

} // namespace xlc::runtime
