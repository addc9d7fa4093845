// What carries messages between hosts where no MPI does: connections of TCP between rank 0 and each other rank, over which rank 0 passes
// on what is not for itself. For what is said beside a step: what GPUs compute goes over NCCL.
//
//   rank 0      listens at the port behind MASTER_PORT, which torchrun's own agent has, until all have come
//   others      connect to MASTER_ADDR there, again and again
//
// Who reaches the port can take part, as in torchrun's own meetings.
#ifndef XLC_LIB_RUNTIME_TCP_STAR_H
#define XLC_LIB_RUNTIME_TCP_STAR_H

#include "Fabric/Carrier.h"
#include "Launch/Environment.h"
#include "Line.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace xlc::runtime::tcp {

class Star final : public Carrier {
public:
  /// Begins to find the others. `launch` says where rank 0 is. `silence`: how long others, or rank 0, may say nothing before they
  /// are taken for lost.
  explicit Star(const Launch &launch, std::chrono::seconds silence = std::chrono::seconds(60));
  /// Without `finish` others miss this rank.
  ~Star() override;
  Star(const Star &) = delete;

  bool waitForStart(std::chrono::milliseconds most) override;
  int rank() const override { return ownRank; }
  int size() const override { return ranks; }
  uint64_t ranksOfHost() const override { return onHost; }

  std::vector<char> gather(std::span<const char> own) override;
  void listen(Listener listener) override;

  /// What is sent is copied, so it ends at once; memory of a message is one run of bytes.
  void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) override;
  void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) override;

  void note(int to, uint32_t kind, std::span<const char> bytes, Behind behind = Behind::Follows) override;
  bool waitForNotes(std::chrono::milliseconds most) override;
  void abandon() override;
  void finish() override;

private:
  struct Batch {
    size_t left; ///< messages that have not ended
    std::atomic<uint32_t> *ended;
  };
  /// What this rank waits to receive.
  struct Receiver {
    int from;
    uint32_t tag;
    std::span<char> memory;
    std::shared_ptr<Batch> batch;
  };
  /// What has come to rank 0 of where all meet, and what this rank waits for.
  struct Meeting {
    std::map<int, std::vector<uint64_t>> come; ///< by rank
    std::span<uint64_t> words;                 ///< this rank's
    std::atomic<uint32_t> *ended = nullptr;
  };
  struct Gathering {
    std::map<int, std::vector<char>> come; ///< by rank
    std::vector<char> all;
    bool isWhole = false;
  };

  // On the thread of the star.
  void run();
  void begin();
  void serve();
  /// Waits for sockets, or for `wakes`; the mutex is free meanwhile.
  void wait(std::unique_lock<std::mutex> &lock);
  /// Tells the listener what has come and who has gone; the mutex is free meanwhile.
  void tell(std::unique_lock<std::mutex> &lock);

  // With the mutex.
  void acceptGuests();
  void takeHello(Line &guest);
  void read(Line &line, int rank);
  void handle(Frame frame);
  void deliver(Frame frame);
  void lose(int rank);
  /// Rank 0 says that it is there; others miss it where it says nothing.
  void beat();
  void end(const std::string &why);
  Line &lineTo(int rank) { return lines[ownRank == 0 ? (size_t)rank : 0]; }
  void say(Kind kind, int to, uint32_t tag, std::span<const char> bytes);
  void sayToAll(Kind kind, std::span<const char> bytes);
  void wake() const;
  bool hasLeft(bool (*isMeant)(const Frame &)) const;
  void joinMeeting(int rank, std::vector<uint64_t> words);
  void endMeeting(std::span<const uint64_t> largest);
  void joinGathering(int rank, std::span<const char> bytes);
  static void endOne(Batch &batch);

  const int ownRank, ranks;
  const uint64_t onHost;
  const uint32_t job;
  const std::chrono::seconds silence;
  const std::string host;
  const uint16_t port;

  std::mutex mutex; ///< of what follows
  std::condition_variable answers;
  OwnedFile wakes;           ///< an eventfd
  OwnedFile door;            ///< where rank 0 listens until all have come
  std::vector<Line> lines;   ///< by rank, of rank 0; of others one
  std::vector<Line> guests;  ///< who have not said who they are
  std::deque<Frame> unread;  ///< messages that nobody waits for yet
  std::deque<Frame> unheard; ///< notes
  std::deque<Receiver> receivers;
  Meeting meeting;
  Gathering gathering;
  Listener listener;
  std::chrono::steady_clock::time_point ticked, beaten, heard; ///< when; of a Beat, and of rank 0
  std::vector<int> lost;                                       ///< ranks, of which the listener has not been told
  bool isStarted = false, isListening = false, isEnding = false, isAbandoned = false, isQuiet = false, isBroken = false;
  std::string problem; ///< of the start
  std::thread thread;
};

} // namespace xlc::runtime::tcp

#endif
