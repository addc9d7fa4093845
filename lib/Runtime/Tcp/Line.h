// One connection, over which frames go: a Header and so many bytes.
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
  Hello,     ///< to rank 0: who this is (`tag`: of which job), and a number that it has drawn
  Challenge, ///< of rank 0: its own number
  Proof,     ///< to rank 0: the guest's
  Welcome,   ///< of rank 0: its own proof
  Refusal,   ///< of rank 0; `tag`: a Reason
  Start,     ///< all have come
  Message,
  Note,
  LatestNote, ///< left out where one of its tag is on its way, as a Beat is
  Meet,       ///< this rank's words
  Met,        ///< the largest of all
  Gather,     ///< what this rank gives
  Gathered,   ///< what all have given
  Beat        ///< rank 0 is there
};

/// Why rank 0 does not let one in that says hello.
enum class Reason : uint32_t { OtherJob, Twin, OtherSecret };

struct Header {
  char begin[8]; ///< of all frames
  Kind kind;
  int32_t from, to;
  uint32_t tag;
  uint64_t bytes;
};

template <class T> std::span<const char> bytesOfValue(const T &value) { return {(const char *)&value, sizeof value}; }

class Frame {
public:
  /// To be received.
  Frame() = default;
  Frame(Kind kind, int from, int to, uint32_t tag, std::span<const char> bytes);

  /// What follows the header as numbers; what is no whole one is left out.
  std::vector<uint64_t> words() const;
  /// Whether what follows the header is such a value, which is then `value`.
  template <class T> bool readTo(T &value) const {
    if (bytes.size() != sizeof value)
      return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return true;
  }
  /// Memory that it takes.
  uint64_t size() const { return sizeof(Frame) + bytes.capacity(); }
  bool isNote() const { return header.kind == Kind::Note || header.kind == Kind::LatestNote; }

  Header header = {};
  std::vector<char> bytes;
};

/// What a message has at most, and what is kept of those that nobody has asked for.
constexpr uint64_t mostMessageBytes = 128ULL << 20;
/// What is received of one line before others have their turn.
constexpr uint64_t mostBytesPerLook = 4ULL << 20;

/// Rounded up, for messages of a limit that was passed.
constexpr uint64_t inMebibytes(uint64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

class Line {
public:
  /// Closed.
  Line() = default;
  /// `last`: the last kind of frame that may come. Others have lengths that only a rank of the job may fill.
  explicit Line(OwnedFile socket, Kind last = Kind::Beat) : socket(std::move(socket)), last(last) {}

  /// The other end has shown that it is of the job: frames of all kinds may come.
  void admit() { last = Kind::Beat; }

  bool isOpen() const { return socket.get() >= 0; }
  int file() const { return socket.get(); }
  void close();

  /// It leaves when `send` can send it. A closed line has none.
  void enqueue(Frame frame);
  const std::deque<Frame> &leaving() const { return queue; }
  /// Memory of these.
  uint64_t leavingBytes() const { return queuedBytes; }
  /// As much as the connection takes now.
  void send();
  /// Whether a frame is whole, which is then `received`. Closes where the connection has ended, or brings what is no frame. Takes
  /// at most so many bytes, of which those that have come are subtracted; what it left there it takes next time.
  bool receive(uint64_t &most);
  bool receive() {
    uint64_t most = mostBytesPerLook;
    return receive(most);
  }
  Frame received;

private:
  OwnedFile socket;
  Kind last = Kind::Beat; ///< that may come
  std::deque<Frame> queue;
  uint64_t queuedBytes = 0;
  size_t sent = 0, got = 0; ///< bytes of the first that leaves, and of the one that comes
};

} // namespace xlc::runtime::tcp

#endif
