// Carries messages between hosts by MPI. One thread drives it, the only one of the process that calls MPI.
//
//   ranks' threads   post batches of messages, and wait for a word
//   the engine       starts them, tests active requests, increments the words of ended batches; receives notes
//
// Messages are two-sided and nonblocking. Sends are synchronous (MPI_Issend): the receiving side buffers at most the
// first part of one, so memory stays bounded however far one rank is ahead. Notes are small and unsolicited, and are
// sent next to the messages: they report a failure of the job or the position of a rank.
#ifndef XLC_LIB_RUNTIME_MPI_ENGINE_H
#define XLC_LIB_RUNTIME_MPI_ENGINE_H

#include "Fabric/Carrier.h"
#include "Library.h"
#include "Underway.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace xlc::runtime::mpi {

class Engine final : public Carrier {
public:
  /// Starts MPI. `otherwise`: the end of the message for a missing library, which names an alternative.
  Engine(uint64_t ranksOfHost, std::string otherwise);
  /// Call only after `finish`: a thread within MPI cannot be ended.
  ~Engine() override = default;
  Engine(const Engine &) = delete;

  bool waitForStart(std::chrono::milliseconds most) override;
  int rank() const override { return ownRank; }
  uint64_t ranksOfHost() const override { return onHost; }
  int size() const override { return ranks; }

  std::vector<char> gather(std::span<const char> own, const std::function<void()> &look) override;
  void listen(Listener listener) override;

  void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) override;
  void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) override;

  void note(int to, uint32_t kind, std::span<const char> bytes, Behind behind = Behind::Follows) override;
  /// Whether all notes were received.
  bool waitForNotes(std::chrono::milliseconds most) override;
  /// Stops all calls of MPI, which would treat processes that end now as lost.
  void abandon() override { isAbandoned = true; }
  void finish() override;

private:
  void run();
  void start();
  void serve();
  bool takeNew();
  bool testNotes();
  void takeNotes();
  void freeEnded();
  void rest(int looks);
  /// Runs `work` on the engine's thread, which continues it if `look` throws.
  void call(const std::function<void()> &work, const std::function<void()> &look = [] {});
  Batch &takeBatch();

  const uint64_t onHost;
  const std::string otherwise;
  int ownRank = 0, ranks = 0;
  Listener listener;

  // Used by the engine's thread only.
  std::unique_ptr<Library> library;
  Comm comm = nullptr; ///< the communicator of messages
  std::optional<MessagesUnderway> messages;
  std::optional<NotesUnderway> notes;
  std::vector<Batch *> taken; ///< to be started
  std::atomic<bool> isBroken{false}, isAbandoned{false};

  std::mutex mutex; ///< guards the following members
  std::condition_variable wakes, answers;
  std::deque<Batch> batches; ///< enough for the largest number of concurrent batches
  std::vector<Batch *> free, posted;
  std::deque<Note> said;
  size_t notesLeft = 0;
  std::function<void()> asked;
  bool isStarted = false, isEnding = false;
  bool isQuiet = false; ///< sends nothing more
  std::string problem;  ///< an error of the start
  std::thread thread;
};

} // namespace xlc::runtime::mpi

#endif
