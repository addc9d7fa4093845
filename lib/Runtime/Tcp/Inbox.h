// Matches messages that have arrived at a rank with its receives: whichever is first waits for the other. Messages
// without a receive are kept up to a limit: other ranks may be ahead of this one, and must not fill its memory.
#ifndef XLC_LIB_RUNTIME_TCP_INBOX_H
#define XLC_LIB_RUNTIME_TCP_INBOX_H

#include "Fabric/Wire.h"
#include "Line.h"

#include <memory>
#include <string>

namespace xlc::runtime::tcp {

/// Messages that were posted together.
class Batch {
public:
  /// `ended` is incremented when this number of messages have ended.
  Batch(size_t messages, std::atomic<uint32_t> &ended) : left(messages), ended(ended) {}
  void endOne();

private:
  size_t left;
  std::atomic<uint32_t> &ended;
};

/// Increments a word and wakes its waiters.
void countUp(std::atomic<uint32_t> &ended);

class Inbox {
public:
  /// Accepts a message that has arrived. Returns its error, or nothing.
  std::string take(Frame frame);
  /// Posts a receive, which waits if its message has not arrived. Returns the error of an arrived message, or nothing.
  std::string await(const Posting &message, std::shared_ptr<Batch> batch);
  /// Drops messages that have arrived and all later ones.
  void close();

private:
  struct Receiver {
    int from;
    uint32_t tag;
    std::span<char> memory;
    std::shared_ptr<Batch> batch;
  };
  static std::string give(const Frame &frame, const Receiver &receiver);

  std::deque<Frame> unread;
  uint64_t unreadBytes = 0; ///< of these messages, with the memory of their containers
  std::deque<Receiver> receivers;
  bool isClosed = false;
};

} // namespace xlc::runtime::tcp

#endif
