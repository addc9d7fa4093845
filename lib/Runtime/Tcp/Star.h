// What carries messages between hosts where no MPI does: connections of TCP between rank 0 and each other rank, over which rank 0 passes
// on what is not for itself. For what is said beside a step: what GPUs compute goes over NCCL.
//
//   rank 0      listens where MASTER_ADDR is, at the port behind MASTER_PORT, which torchrun's own agent has, until all have come (Door.h)
//   others      connect there, again and again
//
// A process that has the job's secret, or reaches the port where there is none, can take a rank's place. Frames of a rank are checked: it
// cannot fill another's memory, nor speak for another.
#ifndef XLC_LIB_RUNTIME_TCP_STAR_H
#define XLC_LIB_RUNTIME_TCP_STAR_H

#include "Door.h"
#include "Fabric/Carrier.h"
#include "Inbox.h"
#include "Launch/Environment.h"

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

  std::string describeAbsence() override;
  std::string takeRemark() override;
  std::vector<char> gather(std::span<const char> own, const std::function<void()> &look) override;
  void listen(Listener listener) override;

  /// What is sent is copied, so it ends at once; memory of a message is one run of bytes.
  void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) override;
  void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) override;

  void note(int to, uint32_t kind, std::span<const char> bytes, Behind behind = Behind::Follows) override;
  bool waitForNotes(std::chrono::milliseconds most) override;
  void abandon() override;
  void finish() override;

private:
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
  void open();
  void knock(std::unique_lock<std::mutex> &lock);
  void serve();
  /// Waits for sockets, or for `wakes`; the mutex is free meanwhile.
  void wait(std::unique_lock<std::mutex> &lock);
  /// Tells the listener what has come and which ranks have gone; the mutex is free meanwhile.
  void tell(std::unique_lock<std::mutex> &lock);
  void giveUp(const std::string &why);

  // With the mutex.
  void letGuestsIn();
  void takeAnswer(const Frame &frame);
  void read(Line &line, int rank);
  void handle(Frame frame);
  void deliver(Frame frame);
  void keepNote(Frame frame);
  void passOn(Frame frame);
  void lose(int rank);
  /// The job ends: a rank says what none says.
  void complain(int rank, const std::string &why);
  void breakOff(int rank, const std::string &why);
  /// Rank 0 says that it is there; others miss it where it says nothing.
  void beat();
  void end(const std::string &why);
  void remark(const std::string &text);
  Line &lineTo(int rank) { return lines[ownRank == 0 ? (size_t)rank : 0]; }
  void say(Kind kind, int to, uint32_t tag, std::span<const char> bytes);
  void sayToAll(Kind kind, std::span<const char> bytes);
  void wake() const;
  bool hasLeft(bool (*isMeant)(const Frame &)) const;
  void joinMeeting(int rank, std::vector<uint64_t> words);
  void endMeeting(std::span<const uint64_t> largest);
  void joinGathering(int rank, std::span<const char> bytes);

  const int ownRank, ranks;
  const uint64_t onHost;
  const Job job;
  const std::chrono::seconds silence;
  const std::string host;
  const uint16_t port;
  const std::string noMemory; ///< the failure where memory is out; to tell it takes none

  std::mutex mutex; ///< of what follows
  std::condition_variable answers;
  OwnedFile wakes;           ///< an eventfd
  Door door;                 ///< of rank 0, until all have come
  std::vector<Line> lines;   ///< by rank, of rank 0; of others one
  Encounter encounter;       ///< of others, with rank 0
  Inbox inbox;               ///< messages
  std::deque<Frame> unheard; ///< notes
  uint64_t unheardBytes = 0;
  Meeting meeting;
  Gathering gathering;
  Listener listener;
  std::chrono::steady_clock::time_point ticked, beaten, looked; ///< when; of a Beat
  std::chrono::steady_clock::duration unheardFor = {};          ///< since rank 0 has said something
  std::vector<std::string> lost;                                ///< what the listener has not been told of
  bool isMemoryOut = false;                                     ///< nor of that
  bool isWelcome = false, isStarted = false, isListening = false, isEnding = false, isAbandoned = false,
       isQuiet = false, isBroken = false;
  std::string problem;              ///< of the start
  std::string fault;                ///< why it is broken, where a rank does what none does; has room for `noMemory`
  std::string absence;              ///< of rank 0, as far as it is known
  std::string refusal;              ///< why rank 0 has refused this rank, which connects again; or nothing
  std::vector<std::string> remarks; ///< all that there were
  size_t remarked = 0;              ///< of these, how many were taken
  std::thread thread;
};

} // namespace xlc::runtime::tcp

#endif
