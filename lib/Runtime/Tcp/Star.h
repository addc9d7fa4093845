// Carries messages between hosts without MPI: TCP connections between rank 0 and each other rank, over which rank 0
// forwards messages for others. It is used for communication outside steps: results of GPUs are sent by NCCL.
//
//   rank 0      listens at MASTER_ADDR until all have connected (Door.h), on the port after MASTER_PORT, which
//               torchrun's own agent uses
//   others      connect there, with retries
//
// A process that has the job's secret, or can reach the port if there is none, can take a rank's place. Frames of a
// rank are validated: it can neither fill another rank's memory nor send in its name.
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
  /// Starts to connect. `launch` contains the address of rank 0. `silence`: the time without frames after which other
  /// ranks, or rank 0, are treated as lost.
  explicit Star(const Launch &launch, std::chrono::seconds silence = std::chrono::seconds(60));
  /// Without a previous `finish`, other ranks report this rank as missing.
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

  /// Sends are copied, so they end at once. The memory of a message is one run of bytes.
  void post(std::span<const Posting> messages, std::atomic<uint32_t> &ended) override;
  void meet(std::span<uint64_t> words, std::atomic<uint32_t> &ended) override;

  void note(int to, uint32_t kind, std::span<const char> bytes, Behind behind = Behind::Follows) override;
  bool waitForNotes(std::chrono::milliseconds most) override;
  void abandon() override;
  void finish() override;

private:
  /// A meeting: the words that have arrived at rank 0, and those for which this rank waits.
  struct Meeting {
    std::map<int, std::vector<uint64_t>> come; ///< by rank
    std::span<uint64_t> words;                 ///< the words of this rank
    std::atomic<uint32_t> *ended = nullptr;
  };
  struct Gathering {
    std::map<int, std::vector<char>> come; ///< by rank
    std::vector<char> all;
    bool isWhole = false;
  };

  // Runs on the thread of the star.
  void run();
  void open();
  void knock(std::unique_lock<std::mutex> &lock);
  void serve();
  /// Waits for sockets, or for `wakes`. The mutex is released meanwhile.
  void wait(std::unique_lock<std::mutex> &lock);
  /// Notifies the listener of notes that have arrived and of ranks that are lost. The mutex is released meanwhile.
  void tell(std::unique_lock<std::mutex> &lock);
  void giveUp(const std::string &why);

  // Requires the mutex.
  void letGuestsIn();
  void takeAnswer(const Frame &frame);
  void read(Line &line, int rank);
  void handle(Frame frame);
  void deliver(Frame frame);
  void keepNote(Frame frame);
  void passOn(Frame frame);
  void lose(int rank);
  /// Ends the job because a rank has sent an invalid frame.
  void complain(int rank, const std::string &why);
  void breakOff(int rank, const std::string &why);
  /// Rank 0 sends a sign of life; without it, others treat rank 0 as lost.
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
  const std::string noMemory; ///< the failure if memory is exhausted; reporting it allocates nothing

  std::mutex mutex; ///< guards the following members
  std::condition_variable answers;
  OwnedFile wakes;           ///< an eventfd
  Door door;                 ///< of rank 0, until all have connected
  std::vector<Line> lines;   ///< on rank 0: by rank; on others: one
  Encounter encounter;       ///< on others: with rank 0
  Inbox inbox;               ///< messages
  std::deque<Frame> unheard; ///< notes that were not yet delivered
  uint64_t unheardBytes = 0;
  Meeting meeting;
  Gathering gathering;
  Listener listener;
  std::chrono::steady_clock::time_point ticked, beaten, looked; ///< times of the last events; `beaten`: of a Beat
  std::chrono::steady_clock::duration unheardFor = {};          ///< the time since the last frame of rank 0
  std::vector<std::string> lost;                                ///< lost ranks of which the listener was not notified
  bool isMemoryOut = false;                                     ///< likewise for exhausted memory
  bool isWelcome = false, isStarted = false, isListening = false, isEnding = false, isAbandoned = false,
       isQuiet = false, isBroken = false;
  std::string problem;              ///< an error of the start
  std::string fault;                ///< the reason of a failure after an invalid frame; has room for `noMemory`
  std::string absence;              ///< the reason of rank 0's absence, if known
  std::string refusal;              ///< the reason why rank 0 has rejected this rank, which connects again; or nothing
  std::vector<std::string> remarks; ///< all remarks so far
  size_t remarked = 0;              ///< the number of those taken
  std::thread thread;
};

} // namespace xlc::runtime::tcp

#endif
