// What the engine's thread has given to MPI and what has not ended yet: messages, in batches of which each has a word
// that is counted up at its end, and notes, which are heard as they come. Calls of MPI that fail throw
// std::runtime_error.
#ifndef XLC_LIB_RUNTIME_MPI_UNDERWAY_H
#define XLC_LIB_RUNTIME_MPI_UNDERWAY_H

#include "Fabric/Carrier.h"
#include "Library.h"

#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace xlc::runtime::mpi {

struct Batch {
  std::vector<Posting> messages;
  std::span<uint64_t> words; ///< not empty: a meeting
  std::atomic<uint32_t> *ended;
  size_t left; ///< of it, under way
};

class MessagesUnderway {
public:
  MessagesUnderway(const Library &library, Comm comm) : library(library), comm(comm) {}

  void begin(Batch &batch);
  /// Whether some have ended.
  bool test();
  bool isEmpty() const { return requests.empty(); }
  /// Batches that have ended since they were taken last.
  std::vector<Batch *> takeEnded() { return std::exchange(over, {}); }

private:
  void beginPart(Batch &batch, const Posting &message, const Runs &memory);
  Request &add(Batch &batch);
  void endOne(Batch &batch);

  const Library &library;
  const Comm comm;
  std::vector<Request> requests;
  std::vector<Batch *> owners; ///< of these
  std::vector<int> ended;      ///< of these, by index
  std::vector<Batch *> over;
};

struct Note {
  int to;
  uint32_t kind;
  std::vector<char> bytes;
  Carrier::Behind behind;
  Request request;
};

class NotesUnderway {
public:
  NotesUnderway(const Library &library, Comm comm) : library(library), comm(comm), heard(mostNoteBytes) {}

  void send(Note note);
  /// Whether one of its kind to the same rank is on its way.
  bool hasLike(const Note &note) const;
  bool isEmpty() const { return leaving.empty(); }
  /// Takes away one of these that has been heard; whether there was one.
  bool takeSent();

  /// From now on notes are heard.
  void hear();
  /// Calls `take` with those that have come; whether there were some.
  bool testHeard(const std::function<void(int from, uint32_t kind, std::span<const char> bytes)> &take);
  void cease();

private:
  const Library &library;
  const Comm comm;
  std::deque<Note> leaving;
  std::vector<char> heard;
  std::optional<Request> hearing;
};

} // namespace xlc::runtime::mpi

#endif
