// Messages between ranks that do not reach each other's memory. A wire moves bytes from arena to arena; what they mean, and
// in which order they are summed, is the fabric's (MessageFabric.h).
//
// As with MPI: from one rank to another, messages of one tag arrive in the order in which they were posted; the memory of a
// message is the wire's until it has ended; a send ends when the other side has begun to receive.
#ifndef XLC_LIB_RUNTIME_FABRIC_WIRE_H
#define XLC_LIB_RUNTIME_FABRIC_WIRE_H

#include "Mover.h"

#include <atomic>

namespace xlc::runtime {

/// Memory of a message: runs of bytes, as a Copy numbers them. Both sides have as many runs of as many bytes.
struct Runs {
  char *begin;
  uint64_t bytes, outer = 1, rows = 1;
  Copy::Steps steps = {};
};

/// A message that a rank sends to another, or receives from it. What is sent is only read.
struct Posting {
  enum class Way { Send, Receive } way;
  int peer;     ///< the other's rank
  uint32_t tag; ///< less than 32768
  Runs memory;
};

class Wire {
public:
  virtual ~Wire() = default;

  /// Of this process.
  virtual int rank() const = 0;
  /// How many ranks share the cores of this host, this one included.
  virtual uint64_t ranksOfHost() const = 0;
  /// Begins all of these; when all have ended, `ended` grows by one, and who waits for it is woken.
  virtual void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) = 0;
  /// When all ranks have called it, each word is the largest that one of them had. `ended` as above.
  virtual void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) = 0;
};

} // namespace xlc::runtime

#endif
