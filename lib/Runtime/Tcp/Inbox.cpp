// See Inbox.h.
#include "Inbox.h"

#include "Fabric/Waiting.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime::tcp {

void countUp(std::atomic<uint32_t> &ended) {
  ended.fetch_add(1, std::memory_order_release);
  wakeAll(ended);
}

void Batch::endOne() {
  if (--left == 0)
    countUp(ended);
}

std::string Inbox::give(const Frame &frame, const Receiver &receiver) {
  if (frame.bytes.size() != receiver.memory.size())
    return fmt::format("rank {} has sent {} bytes, but {} are expected", receiver.from, frame.bytes.size(),
                       receiver.memory.size());
  std::ranges::copy(frame.bytes, receiver.memory.begin());
  receiver.batch->endOne();
  return "";
}

std::string Inbox::take(Frame frame) {
  const Header header = frame.header;
  auto isFor = [&](const Receiver &each) { return each.from == header.from && each.tag == header.tag; };
  if (isClosed)
    return "";
  if (auto waits = std::ranges::find_if(receivers, isFor); waits != receivers.end()) {
    Receiver receiver = std::move(*waits);
    receivers.erase(waits);
    return give(frame, receiver);
  }
  if (unreadBytes + frame.size() > mostMessageBytes)
    return fmt::format("rank {} has sent {} MiB of messages without a receiver; the limit is {} MiB", header.from,
                       inMebibytes(unreadBytes + frame.size()), inMebibytes(mostMessageBytes));
  unreadBytes += frame.size();
  unread.push_back(std::move(frame));
  return "";
}

std::string Inbox::await(const Posting &message, std::shared_ptr<Batch> batch) {
  Receiver receiver{message.peer, message.tag, {message.memory.begin, (size_t)message.memory.bytes}, std::move(batch)};
  auto isIt = [&](const Frame &frame) {
    return frame.header.from == receiver.from && frame.header.tag == receiver.tag;
  };
  auto come = std::ranges::find_if(unread, isIt);
  if (come == unread.end()) {
    receivers.push_back(std::move(receiver));
    return "";
  }
  Frame frame = std::move(*come);
  unread.erase(come);
  unreadBytes -= frame.size();
  return give(frame, receiver);
}

void Inbox::close() {
  isClosed = true;
  unread.clear(), unreadBytes = 0;
}

} // namespace xlc::runtime::tcp
