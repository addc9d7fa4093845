// How the ranks of a job meet: collectives within their groups, messages between stages, and all of them after a step.
//
// With NCCL's contract: in place where the pieces are, done for a rank when what it reads and writes is its own again.
// Between two ranks messages have one order, and collectives have one within a group and on one stream.
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
  uint32_t group; ///< of the plan
  uint64_t outer, chunk;
  plan::Element element;
  const char *src;
  char *dst;
  bool accumulate = false;      ///< of a reduce_scatter: adds to dst
  uint64_t rows = 1;            ///< of an all_to_all
  bool ranksFirst = false;      ///< of an all_to_all: in src, chunks for different ranks lie `rows` chunks apart
  plan::Element wire = element; ///< as which elements cross
  plan::Stream stream = plan::Stream::compute;
};

/// A value on its way between two ranks of equal dp and tp.
struct Message {
  uint64_t number; ///< the same at both ends
  uint32_t peer;   ///< the other's stage
  uint64_t bytes;
};

/// What is said where the lists of two ranks have come out of step.
inline std::string wrongMessage(uint64_t came, uint64_t due) {
  return "message " + std::to_string(came) + " arrived, but message " + std::to_string(due) + " is expected";
}

/// A rank as the others meet it.
struct Participant {
  int rank;
  Mover &mover;
  MovedByAxis &moved;     ///< bytes that it read from others
  Pulse *pulse = nullptr; ///< where it shows that it waits
};

/// Shared by all ranks of a process. Everything returns when its part is done, and throws Stopped where the job ends instead.
class Fabric {
public:
  virtual ~Fabric() = default;
  /// Called by every rank of the group.
  virtual void exchange(const Exchange &exchange, const Participant &self) = 0;
  virtual void send(const Message &message, const char *from, const Participant &self) = 0;
  /// Throws std::runtime_error where another message comes.
  virtual void receive(const Message &message, char *to, const Participant &self) = 0;
  /// All ranks of the job meet, outside of a step, and agree on whether it was asked to end.
  virtual void meet(Pulse *pulse) = 0;
};

} // namespace xlc::runtime

#endif
