// Messages in flight of one stream of a rank, in two batches: while one is processed, the next may arrive.
#ifndef XLC_LIB_RUNTIME_FABRIC_BATCHES_H
#define XLC_LIB_RUNTIME_FABRIC_BATCHES_H

#include "Waiter.h"
#include "Wire.h"

#include <memory>
#include <vector>

namespace xlc::runtime {

/// The interface that sums use; it is independent of the transport.
class Batches {
public:
  virtual ~Batches() = default;

  /// Adds a message to the next batch that is posted.
  void send(int peer, uint32_t tag, const Runs &memory) { next.push_back({Posting::Way::Send, peer, tag, memory}); }
  void receive(int peer, uint32_t tag, const Runs &memory) {
    next.push_back({Posting::Way::Receive, peer, tag, memory});
  }
  /// Posts a batch as `half`, 0 or 1, which must have no messages in flight.
  virtual void post(unsigned half) = 0;
  /// Waits for all messages of a half: later operations of the rank's device find them ended. Throws Stopped if the job
  /// ends first.
  virtual void wait(unsigned half, Pulse *pulse) = 0;

protected:
  std::vector<Posting> next;
};

/// Batches on a wire. `wait` returns when the messages have ended.
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
  std::unique_ptr<std::atomic<uint32_t>[]> ended; ///< by half: the number of ended batches
  uint32_t before[2] = {};
  bool isUnderWay[2] = {};
};

} // namespace xlc::runtime

#endif
