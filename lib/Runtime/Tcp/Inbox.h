// Messages that have come to a rank, and its receivers: whichever is there first waits for the other. Messages without a receiver are
// kept up to a limit: other ranks may be ahead of this one, and must not fill its memory.
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
  /// `ended` grows by one when so many messages have ended.
  Batch(size_t messages, std::atomic<uint32_t> &ended) : left(messages), ended(ended) {}
  void endOne();

private:
  size_t left;
  std::atomic<uint32_t> &ended;
};

/// Counts up a word that somebody waits for.
void countUp(std::atomic<uint32_t> &ended);

class Inbox {
public:
  /// A message that has come. What is wrong with it, or nothing.
  std::string take(Frame frame);
  /// What this rank waits for, if it has not come yet. What is wrong with what has come, or nothing.
  std::string await(const Posting &message, std::shared_ptr<Batch> batch);
  /// Drops what has come, and what comes from now on.
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
  uint64_t unreadBytes = 0; ///< of these, with what keeps them
  std::deque<Receiver> receivers;
  bool isClosed = false;
};

} // namespace xlc::runtime::tcp

#endif
