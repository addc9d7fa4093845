// Operations that the engine's thread has started in MPI and that have not ended: messages, in batches with one word
// each that is incremented at the end, and notes, which are received as they arrive. Failing calls of MPI throw
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
  std::span<uint64_t> words; ///< if not empty, the batch is a meeting
  std::atomic<uint32_t> *ended;
  size_t left; ///< number of active messages of it
};

class MessagesUnderway {
public:
  MessagesUnderway(const Library &library, Comm comm) : library(library), comm(comm) {}

  void begin(Batch &batch);
  /// Whether some operations have ended.
  bool test();
  bool isEmpty() const { return requests.empty(); }
  /// The batches that have ended since the last call.
  std::vector<Batch *> takeEnded() { return std::exchange(over, {}); }

private:
  void beginPart(Batch &batch, const Posting &message, const Runs &memory);
  Request &add(Batch &batch);
  void endOne(Batch &batch);

  const Library &library;
  const Comm comm;
  std::vector<Request> requests;
  std::vector<Batch *> owners; ///< the batches of these requests
  std::vector<int> ended;      ///< the ended requests, by index
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
  /// Whether a note of the same kind to the same rank is in flight.
  bool hasLike(const Note &note) const;
  bool isEmpty() const { return leaving.empty(); }
  /// Removes a note that was received. Returns whether there was one.
  bool takeSent();

  /// Starts to receive notes.
  void hear();
  /// Calls `take` with the notes that have arrived. Returns whether there were any.
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
