// Messages of one stream of a rank that are under way, in two batches: while one is worked on, the next may come.
#ifndef XLC_LIB_RUNTIME_FABRIC_BATCHES_H
#define XLC_LIB_RUNTIME_FABRIC_BATCHES_H

#include "Waiter.h"
#include "Wire.h"

#include <memory>
#include <vector>

namespace xlc::runtime {

class Batches {
public:
  Batches(Wire &wire, const Waiter &waiter)
      : wire(wire), waiter(waiter), ended(std::make_unique<std::atomic<uint32_t>[]>(2)) {}

  /// For the next batch that is posted.
  void send(int peer, uint32_t tag, const Runs &memory) { next.push_back({Posting::Way::Send, peer, tag, memory}); }
  void receive(int peer, uint32_t tag, const Runs &memory) {
    next.push_back({Posting::Way::Receive, peer, tag, memory});
  }
  /// `half`, of which nothing is under way: 0 or 1.
  void post(unsigned half) {
    before[half] = ended[half].load(std::memory_order_acquire);
    isUnderWay[half] = !next.empty();
    if (isUnderWay[half])
      wire.post(next, ended[half]);
    next.clear();
  }
  /// Returns when all of them have ended, throws Stopped where the job ends instead.
  void wait(unsigned half, Pulse *pulse) {
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
  std::vector<Posting> next;
};

} // namespace xlc::runtime

#endif
