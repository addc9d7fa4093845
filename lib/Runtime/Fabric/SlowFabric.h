// Simulates a slower network, to measure its cost and the effect of overlap: each read of a rank takes as long as on a
// link with this many bytes per second. All streams of a rank share its link, in the order in which their messages
// arrive. Nothing else changes: messages and bits are the same.
#ifndef XLC_LIB_RUNTIME_FABRIC_SLOWFABRIC_H
#define XLC_LIB_RUNTIME_FABRIC_SLOWFABRIC_H

#include "Fabric.h"

#include <mutex>
#include <vector>

namespace xlc::runtime {

class SlowFabric final : public Fabric {
public:
  /// `bytesPerSecond`: at least 1000.
  SlowFabric(Fabric &inner, double bytesPerSecond, size_t ranks)
      : inner(inner), bytesPerSecond(bytesPerSecond), links(ranks) {}

  void exchange(const Exchange &exchange, const Participant &self) override;
  void send(const Message &message, const char *from, const Participant &self) override;
  void receive(const Message &message, char *to, const Participant &self) override;
  void meet(Pulse *pulse) override { inner.meet(pulse); }

private:
  struct Link {
    std::mutex mutex;
    int64_t free = 0; ///< the end of the last message, in nanoseconds
  };
  /// Waits until `bytes` bytes, which entered the rank's link at `begin`, have passed it.
  void pass(const Participant &self, int64_t begin, uint64_t bytes);

  Fabric &inner;
  const double bytesPerSecond;
  std::vector<Link> links; ///< by rank
};

} // namespace xlc::runtime

#endif
