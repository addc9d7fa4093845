// Communication between the ranks of a job: collectives within their groups, messages between stages, and a meeting of
// all ranks after a step.
//
// The contract is that of NCCL: collectives are in place if the pieces are, and a call has ended for a rank when the
// rank may reuse the memory that it read or wrote. Messages between two ranks are ordered, and so are collectives
// within one group and stream.
#ifndef XLC_LIB_RUNTIME_FABRIC_FABRIC_H
#define XLC_LIB_RUNTIME_FABRIC_FABRIC_H

#include "MovedBytes.h"
#include "Mover.h"
#include "Pulse.h"

#include <string>

namespace xlc::runtime {

/// One rank's part in a collective, with geometry as in Plan.fbs' Exchange.
struct Exchange {
  plan::CollectiveKind kind;
  uint32_t group; ///< index in the plan
  uint64_t outer, chunk;
  plan::Element element;
  const char *src;
  char *dst;
  bool accumulate = false;      ///< reduce_scatter: adds to dst
  uint64_t rows = 1;            ///< of an all_to_all
  bool ranksFirst = false;      ///< all_to_all: in src, chunks for different ranks lie `rows` chunks apart
  plan::Element wire = element; ///< the type of transmitted elements
  plan::Stream stream = plan::Stream::compute;
};

/// A value sent between two ranks of equal dp and tp.
struct Message {
  uint64_t number; ///< the same at both ends
  uint32_t peer;   ///< the stage of the peer
  uint64_t bytes;
};

/// The message for lists of two ranks that are out of step.
inline std::string wrongMessage(uint64_t came, uint64_t due) {
  return "message " + std::to_string(came) + " arrived, but message " + std::to_string(due) + " is expected";
}

/// A rank that takes part in an exchange.
struct Participant {
  int rank;
  Mover &mover;
  MovedByAxis &moved;     ///< bytes that it read from others
  Pulse *pulse = nullptr; ///< reports the waits of the rank
};

/// Shared by all ranks of a process. Each function returns when the part of the calling rank is complete, and throws
/// Stopped if the job ends first.
class Fabric {
public:
  virtual ~Fabric() = default;
  /// Called by every rank of the group.
  virtual void exchange(const Exchange &exchange, const Participant &self) = 0;
  virtual void send(const Message &message, const char *from, const Participant &self) = 0;
  /// Throws std::runtime_error if a different message arrives.
  virtual void receive(const Message &message, char *to, const Participant &self) = 0;
  /// All ranks of the job meet, outside of a step, and agree on whether an end was requested.
  virtual void meet(Pulse *pulse) = 0;
};

} // namespace xlc::runtime

#endif
