// A fabric as on a slower network, for trying what that costs and what overlap hides: whatever a rank reads takes as long as on
// a link of so many bytes per second. All streams of a rank share its link, in the order in which their messages have come.
// Nothing else changes: the same messages, the same bits.
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
    int64_t free = 0; ///< when the last message is over, in nanoseconds
  };
  /// Waits until `bytes` bytes have passed the rank's link, which they came to at `begin`.
  void pass(const Participant &self, int64_t begin, uint64_t bytes);

  Fabric &inner;
  const double bytesPerSecond;
  std::vector<Link> links; ///< by rank
};

} // namespace xlc::runtime

#endif
