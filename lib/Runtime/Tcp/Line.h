// One connection that carries frames: a Header and the number of bytes that it states.
#ifndef XLC_LIB_RUNTIME_TCP_LINE_H
#define XLC_LIB_RUNTIME_TCP_LINE_H

#include "Launch/Segment.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

namespace xlc::runtime::tcp {

enum class Kind : uint32_t {
  Hello,     ///< to rank 0: identity (`tag`: of the job), and a number that was drawn
  Challenge, ///< from rank 0: its own number
  Proof,     ///< to rank 0: the proof of the guest
  Welcome,   ///< from rank 0: its own proof
  Refusal,   ///< from rank 0; `tag`: a Reason
  Start,     ///< all ranks have connected
  Message,
  Note,
  LatestNote, ///< dropped if one with its tag is in flight, as a Beat is
  Meet,       ///< the words of this rank
  Met,        ///< the maximum over all ranks
  Gather,     ///< the bytes of this rank
  Gathered,   ///< the bytes of all ranks
  Beat        ///< rank 0 is alive
};

/// The reason why rank 0 rejects a Hello.
enum class Reason : uint32_t { OtherJob, Twin, OtherSecret };

struct Header {
  char begin[8]; ///< equal in all frames
  Kind kind;
  int32_t from, to;
  uint32_t tag;
  uint64_t bytes;
};

template <class T> std::span<const char> bytesOfValue(const T &value) { return {(const char *)&value, sizeof value}; }

class Frame {
public:
  /// Creates a frame for receiving.
  Frame() = default;
  Frame(Kind kind, int from, int to, uint32_t tag, std::span<const char> bytes);

  /// The payload as numbers; an incomplete one at the end is omitted.
  std::vector<uint64_t> words() const;
  /// Whether the payload is a value of this type, which is then stored in `value`.
  template <class T> bool readTo(T &value) const {
    if (bytes.size() != sizeof value)
      return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return true;
  }
  /// The memory of the frame.
  uint64_t size() const { return sizeof(Frame) + bytes.capacity(); }
  bool isNote() const { return header.kind == Kind::Note || header.kind == Kind::LatestNote; }

  Header header = {};
  std::vector<char> bytes;
};

/// The limit of the bytes of a message, and of the bytes kept of messages without a receive.
constexpr uint64_t mostMessageBytes = 128ULL << 20;
/// The limit of the bytes received from one line before others have their turn.
constexpr uint64_t mostBytesPerLook = 4ULL << 20;

/// Rounds up, for messages about an exceeded limit.
constexpr uint64_t inMebibytes(uint64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

class Line {
public:
  /// Creates a closed line.
  Line() = default;
  /// `last`: the last kind of frame that is accepted. Others have lengths that only a rank of the job may request.
  explicit Line(OwnedFile socket, Kind last = Kind::Beat) : socket(std::move(socket)), last(last) {}

  /// The other end has proved that it belongs to the job: accepts frames of all kinds.
  void admit() { last = Kind::Beat; }

  bool isOpen() const { return socket.get() >= 0; }
  int file() const { return socket.get(); }
  void close();

  /// Queues a frame, which `send` sends later. A closed line has no queue.
  void enqueue(Frame frame);
  const std::deque<Frame> &leaving() const { return queue; }
  /// The memory of the queued frames.
  uint64_t leavingBytes() const { return queuedBytes; }
  /// Sends as many bytes as the connection accepts now.
  void send();
  /// Whether a frame is complete, which is then `received`. Closes the line if the connection has ended or an invalid
  /// frame arrives. Reads at most `most` bytes and subtracts those read; the next call reads the rest.
  bool receive(uint64_t &most);
  bool receive() {
    uint64_t most = mostBytesPerLook;
    return receive(most);
  }
  Frame received;

private:
  OwnedFile socket;
  Kind last = Kind::Beat; ///< the last accepted kind
  std::deque<Frame> queue;
  uint64_t queuedBytes = 0;
  size_t sent = 0, got = 0; ///< bytes sent of the first queued frame; bytes received of the current one
};

} // namespace xlc::runtime::tcp

#endif
