// What carries messages between hosts: MPI, driven by one thread, the only one of the process that calls it.
//
//   ranks' threads   post batches of messages, and wait for a word
//   the engine       starts them, tests what is under way, counts up the words of what has ended; hears notes
//
// Messages are two-sided and nonblocking. Sends are synchronous (MPI_Issend): the other side keeps at most the first part of
// one, so memory stays bounded however far one rank is ahead. Notes are small, come unasked, and go beside the messages: that
// the job fails, where a rank is.
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
  /// Starts MPI. `otherwise`: the end of the message where the library is missing: what else helps.
  Engine(uint64_t ranksOfHost, std::string otherwise);
  /// Only after `finish`: a thread that is within MPI cannot be ended.
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
  /// Whether all have been heard.
  bool waitForNotes(std::chrono::milliseconds most) override;
  /// Calls MPI no more, which would take processes that end now for lost ones.
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
  /// Runs `work` on the engine's thread, which goes on with it where `look` throws.
  void call(const std::function<void()> &work, const std::function<void()> &look = [] {});
  Batch &takeBatch();

  const uint64_t onHost;
  const std::string otherwise;
  int ownRank = 0, ranks = 0;
  Listener listener;

  // Of the engine's thread.
  std::unique_ptr<Library> library;
  Comm comm = nullptr; ///< of messages
  std::optional<MessagesUnderway> messages;
  std::optional<NotesUnderway> notes;
  std::vector<Batch *> taken; ///< to begin
  std::atomic<bool> isBroken{false}, isAbandoned{false};

  std::mutex mutex; ///< of what follows
  std::condition_variable wakes, answers;
  std::deque<Batch> batches; ///< all that there ever were at once
  std::vector<Batch *> free, posted;
  std::deque<Note> said;
  size_t notesLeft = 0;
  std::function<void()> asked;
  bool isStarted = false, isEnding = false;
  bool isQuiet = false; ///< says no more
  std::string problem;  ///< of the start
  std::thread thread;
};

} // namespace xlc::runtime::mpi

#endif
