// See Line.h.
#include "Line.h"

#include "Fabric/Carrier.h"
#include "Proof.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace xlc::runtime::tcp {
namespace {

constexpr char lineMagic[8] = "xlc 3";
constexpr size_t mostAtOnce = 1 << 20; // of memory for what has not come yet
constexpr uint64_t mostOfOneRank =
    1ULL << 20; // where all meet: some words for each rank, or what a process says of itself

/// Bytes behind a header of this kind.
uint64_t mostOf(Kind kind) {
  switch (kind) {
  case Kind::Hello:
  case Kind::Challenge:
    return sizeof(Nonce);
  case Kind::Proof:
  case Kind::Welcome:
    return sizeof(Digest);
  case Kind::Refusal:
  case Kind::Start:
  case Kind::Beat:
    return 0;
  case Kind::Note:
  case Kind::LatestNote:
    return mostNoteBytes;
  case Kind::Meet:
  case Kind::Met:
  case Kind::Gather:
    return mostOfOneRank;
  case Kind::Message:
  case Kind::Gathered:
    return mostMessageBytes;
  }
  return 0;
}

bool isLegal(const Header &header, Kind last) {
  return std::memcmp(header.begin, lineMagic, sizeof lineMagic) == 0 && header.kind <= last &&
         header.bytes <= mostOf(header.kind);
}

} // namespace

Frame::Frame(Kind kind, int from, int to, uint32_t tag, std::span<const char> bytes)
    : header{{}, kind, from, to, tag, bytes.size()}, bytes(bytes.begin(), bytes.end()) {
  std::memcpy(header.begin, lineMagic, sizeof lineMagic);
}

std::vector<uint64_t> Frame::words() const {
  std::vector<uint64_t> made(bytes.size() / sizeof(uint64_t));
  std::memcpy(made.data(), bytes.data(), made.size() * sizeof(uint64_t));
  return made;
}

void Line::close() {
  socket.reset();
  queue.clear();
  received = {};
  queuedBytes = 0, sent = got = 0;
}

void Line::enqueue(Frame frame) {
  const Header &next = frame.header;
  auto isLike = [&](const Frame &other) {
    return other.header.kind == next.kind && other.header.from == next.from && other.header.to == next.to &&
           other.header.tag == next.tag;
  };
  bool isLatest = next.kind == Kind::LatestNote || next.kind == Kind::Beat;
  if (!isOpen() || (isLatest && std::ranges::any_of(queue, isLike)))
    return;
  queuedBytes += frame.size();
  queue.push_back(std::move(frame));
}

void Line::send() {
  while (isOpen() && !queue.empty()) {
    Frame &frame = queue.front();
    iovec parts[] = {{&frame.header, sizeof(Header)}, {frame.bytes.data(), frame.bytes.size()}};
    size_t skipped = sent;
    for (iovec &part : parts) {
      size_t some = std::min(skipped, part.iov_len);
      part.iov_base = (char *)part.iov_base + some, part.iov_len -= some, skipped -= some;
    }
    msghdr message = {};
    message.msg_iov = parts, message.msg_iovlen = std::size(parts);
    ssize_t went = sendmsg(file(), &message, MSG_NOSIGNAL);
    if (went < 0)
      return; // what is wrong with it, receiving finds
    sent += (size_t)went;
    if (sent == sizeof(Header) + frame.bytes.size())
      queuedBytes -= frame.size(), queue.pop_front(), sent = 0;
  }
}

/// In steps that double, as bytes come: a header that promises much takes no memory. At the end it has no more than the frame.
static void makeRoom(std::vector<char> &bytes, uint64_t whole, uint64_t wanted) {
  if (wanted > bytes.capacity())
    bytes.reserve(std::min(whole, std::max<uint64_t>(wanted, 2 * bytes.capacity())));
  bytes.resize(wanted);
}

bool Line::receive(uint64_t &most) {
  while (isOpen()) {
    bool isHeader = got < sizeof(Header);
    size_t behind = isHeader ? 0 : got - sizeof(Header);
    if (!isHeader && behind == received.header.bytes) {
      got = 0;
      return true;
    }
    if (most == 0)
      return false;
    if (!isHeader)
      makeRoom(received.bytes, received.header.bytes, std::min(received.header.bytes, behind + mostAtOnce));
    char *to = isHeader ? (char *)&received.header + got : received.bytes.data() + behind;
    size_t wanted = isHeader ? sizeof(Header) - got : received.bytes.size() - behind;
    ssize_t some = recv(file(), to, std::min(wanted, most), 0);
    if (some < 0 && (errno == EAGAIN || errno == EINTR))
      return false;
    got += (size_t)std::max<ssize_t>(0, some), most -= (uint64_t)std::max<ssize_t>(0, some);
    if (some <= 0 || (isHeader && got == sizeof(Header) && !isLegal(received.header, last)))
      close();
    else if (isHeader && got == sizeof(Header))
      received.bytes.clear();
  }
  return false;
}

} // namespace xlc::runtime::tcp
