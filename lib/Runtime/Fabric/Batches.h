// Messages of one stream of a rank that are under way, in two batches: while one is worked on, the next may come.
#ifndef XLC_LIB_RUNTIME_FABRIC_BATCHES_H
#define XLC_LIB_RUNTIME_FABRIC_BATCHES_H

#include "Waiter.h"
#include "Wire.h"

#include <memory>
#include <vector>

namespace xlc::runtime {

/// For sums, which do not know who carries them.
class Batches {
public:
  virtual ~Batches() = default;

  /// For the next batch that is posted.
  void send(int peer, uint32_t tag, const Runs &memory) { next.push_back({Posting::Way::Send, peer, tag, memory}); }
  void receive(int peer, uint32_t tag, const Runs &memory) {
    next.push_back({Posting::Way::Receive, peer, tag, memory});
  }
  /// `half`, of which nothing is under way: 0 or 1.
  virtual void post(unsigned half) = 0;
  /// What the rank's device does after it finds all of them ended; throws Stopped where the job ends instead.
  virtual void wait(unsigned half, Pulse *pulse) = 0;

protected:
  std::vector<Posting> next;
};

/// Of a wire. `wait` returns when they have ended.
class WireBatches final : public Batches {
public:
  WireBatches(Wire &wire, const Waiter &waiter)
      : wire(wire), waiter(waiter), ended(std::make_unique<std::atomic<uint32_t>[]>(2)) {}

  void post(unsigned half) override {
    before[half] = ended[half].load(std::memory_order_acquire);
    isUnderWay[half] = !next.empty();
    if (isUnderWay[half])
      wire.post(next, ended[half]);
    next.clear();
  }
  void wait(unsigned half, Pulse *pulse) override {
    if (isUnderWay[half])
      waiter.waitWhile(ended[half], before[half], pulse);
    isUnderWay[half] = false;
  }

private:
  Wire &wire;
  const Waiter &waiter;
  std::unique_ptr<std::atomic<uint32_t>[]> ended; ///< batches that have, by half
  uint32_t before[2] = {};
  bool isUnderWay[2] = {};
};

} // namespace xlc::runtime

#endif
