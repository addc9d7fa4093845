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

#include "Fabric/Wire.h"
#include "Library.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace xlc::runtime::mpi {

constexpr uint64_t mostNoteBytes = 10 << 10;

/// Called on the engine's thread.
struct Listener {
  std::function<void(int from, uint32_t kind, std::span<const char> bytes)> hear;
  std::function<void()> tick; ///< every few hundredths of a second
  /// MPI says that something cannot be done; no message ends any more.
  std::function<void(const std::string &why)> fail;
};

class Engine final : public Wire {
public:
  /// Starts MPI.
  explicit Engine(uint64_t ranksOfHost);
  /// Only after `finish`: a thread that is within MPI cannot be ended.
  ~Engine() override = default;
  Engine(const Engine &) = delete;

  /// Whether all processes of the job have started MPI, within this time. Throws Rejected where that has failed.
  bool waitForStart(std::chrono::milliseconds most);
  int rank() const override { return ownRank; }
  uint64_t ranksOfHost() const override { return onHost; }
  int size() const { return ranks; }

  /// What all ranks give, by rank; of each as many bytes. Before `listen`.
  std::vector<char> gather(std::span<const char> own);
  void listen(Listener listener);

  void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) override;
  void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) override;

  /// What becomes of a note while one of its kind to the same rank has not been heard: it follows, or is left out.
  enum class Behind { Follows, IsLeftOut };
  /// Says something to another rank.
  void note(int to, uint32_t kind, std::span<const char> bytes, Behind behind = Behind::Follows);
  /// Whether all notes have been heard within this time.
  bool waitForNotes(std::chrono::milliseconds most);
  /// Calls MPI no more, which would take processes that end now for lost ones.
  void abandon() { isAbandoned = true; }
  /// Ends MPI with all other ranks.
  void finish();

private:
  struct Batch {
    std::vector<Posting> messages;
    std::span<uint64_t> words; ///< not empty: a meeting
    std::atomic<uint32_t> *ended;
    size_t left;
  };
  struct Note {
    int to;
    uint32_t kind;
    std::vector<char> bytes;
    Behind behind;
    Request request;
  };
  void run();
  void start();
  void serve();
  bool takeNew();
  void begin(Batch &batch);
  void beginPart(Batch &batch, const Posting &message, const Runs &memory);
  void endOne(Batch &batch);
  bool testMessages();
  bool testNotes();
  void takeNotes();
  void hear();
  void rest(int looks);
  /// Runs `work` on the engine's thread.
  void call(const std::function<void()> &work);
  void check(int result) const;
  Batch &takeBatch();

  const uint64_t onHost;
  int ownRank = 0, ranks = 0;
  Listener listener;

  // Of the engine's thread.
  std::unique_ptr<Library> library;
  Comm messages = nullptr, notes = nullptr;
  std::vector<Batch *> taken;    ///< to begin
  std::vector<Request> requests; ///< under way
  std::vector<Batch *> owners;   ///< of these
  std::vector<int> ended;        ///< of these, by index
  std::deque<Note> leaving;
  std::vector<char> heard;
  std::optional<Request> hearing;
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
