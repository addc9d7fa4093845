// Messages between ranks that cannot access each other's memory. A wire moves bytes from arena to arena. The fabric
// (MessageFabric.h) defines their meaning and the order in which they are summed.
//
// The rules are those of MPI: messages of one tag from one rank to another arrive in the order in which they were
// posted; the memory of a message belongs to the wire until the message has ended; a send ends when the other side has
// begun to receive.
#ifndef XLC_LIB_RUNTIME_FABRIC_WIRE_H
#define XLC_LIB_RUNTIME_FABRIC_WIRE_H

#include "Mover.h"

#include <atomic>

namespace xlc::runtime {

/// Memory of a message: runs of bytes, numbered as in a Copy. Both sides have equal numbers of runs and bytes.
struct Runs {
  char *begin;
  uint64_t bytes, outer = 1, rows = 1;
  Copy::Steps steps = {};
};

/// A message that a rank sends to another, or receives from it. The memory of a send is only read.
struct Posting {
  enum class Way { Send, Receive } way;
  int peer;     ///< the rank of the peer
  uint32_t tag; ///< less than 32768
  Runs memory;
};

class Wire {
public:
  virtual ~Wire() = default;

  /// The rank of this process.
  virtual int rank() const = 0;
  /// The number of ranks that share the cores of this host, including this one.
  virtual uint64_t ranksOfHost() const = 0;
  /// Starts all messages. When all have ended, `ended` is incremented and its waiters are woken.
  virtual void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) = 0;
  /// Meets all ranks: when all have called it, each word is the maximum over the ranks. `ended` as above.
  virtual void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) = 0;
};

} // namespace xlc::runtime

#endif
