// One connection, over which frames go: a Header and so many bytes.
#ifndef XLC_LIB_RUNTIME_TCP_LINE_H
#define XLC_LIB_RUNTIME_TCP_LINE_H

#include "Launch/Segment.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace xlc::runtime::tcp {

enum class Kind : uint32_t {
  Hello, ///< who this is; `tag`: of which job
  Start, ///< all have come
  Message,
  Note,
  LatestNote, ///< left out where one of its tag is on its way
  Meet,       ///< this rank's words
  Met,        ///< the largest of all
  Gather,     ///< what this rank gives
  Gathered,   ///< what all have given
  Beat        ///< rank 0 is there
};

struct Header {
  char begin[8]; ///< of all frames
  Kind kind;
  int32_t from, to;
  uint32_t tag;
  uint64_t bytes;
};

class Frame {
public:
  /// To be received.
  Frame() = default;
  Frame(Kind kind, int from, int to, uint32_t tag, std::span<const char> bytes);

  /// What follows the header as numbers; what is no whole one is left out.
  std::vector<uint64_t> words() const;
  /// What follows the header, as far as both reach.
  void copyTo(std::span<char> memory) const;
  bool isNote() const { return header.kind == Kind::Note || header.kind == Kind::LatestNote; }

  Header header = {};
  std::vector<char> bytes;
};

class Line {
public:
  /// Closed.
  Line() = default;
  /// `most`: bytes behind the header of a frame that is received.
  explicit Line(OwnedFile socket, uint64_t most = mostBytes) : socket(std::move(socket)), most(most) {}

  bool isOpen() const { return socket.get() >= 0; }
  int file() const { return socket.get(); }
  void close();

  /// It leaves when `send` can send it. A closed line has none.
  void enqueue(Frame frame);
  const std::deque<Frame> &leaving() const { return queue; }
  /// As much as the connection takes now.
  void send();
  /// Whether a frame is whole, which is then `received`. Closes where the connection has ended, or brings what is no frame.
  bool receive();
  Frame received;
  /// From the next frame on, as `most` of the constructor.
  void allow(uint64_t bytes) { most = bytes; }

  static constexpr uint64_t mostBytes = 128ULL << 20;

private:
  OwnedFile socket;
  uint64_t most = mostBytes;
  std::deque<Frame> queue;
  size_t sent = 0, got = 0; ///< bytes of the first that leaves, and of the one that comes
};

} // namespace xlc::runtime::tcp

#endif
