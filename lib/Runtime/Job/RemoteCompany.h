// Processes on other hosts, reached by notes and messages.
#ifndef XLC_LIB_RUNTIME_JOB_REMOTECOMPANY_H
#define XLC_LIB_RUNTIME_JOB_REMOTECOMPANY_H

#include "Company.h"
#include "Fabric/Carrier.h"

namespace xlc::runtime {

class RemoteCompany final : public Company {
public:
  /// Starts to listen. Must live as long as the carrier.
  RemoteCompany(const World &world, Carrier &carrier);

  void lookAfter() override {} // the launcher or the carrier detects the end of a process
  void sayFailure() override;
  void publish(const StepResult &result) override;
  void collect() override;
  void readArena(int rank, uint64_t offset, uint64_t bytes, void *to) override;
  void end(Exit exit) override;
  Exit awaitEnd(const Left &left) override;

private:
  enum Kind : uint32_t { Failed, Said, Numbers, Whereabouts };
  /// A request or a notification of rank 0 to another rank.
  struct Question {
    enum What : uint64_t { Arena, Commons, End } what;
    uint64_t from, bytes; ///< an offset, or a place; for End the exit code
  };
  /// The position of a rank, as it is transmitted.
  struct Sight;

  void hear(int from, uint32_t kind, std::span<const char> bytes);
  void fail(const std::string &why);
  void takeFailure(int from, std::span<const char> bytes);
  void tick();
  void tellFailure(Kind kind);
  void tellWhereabouts();
  void takeWhereabouts(int from, std::span<const char> bytes);
  void ask(int rank, const Question &question, void *to);
  /// Throws ExchangeFailure if rank 0 requests data that do not exist.
  void check(const Question &question, const Left &left) const;
  void exchange(std::span<const Posting> messages);
  /// A message of one run of bytes, to or from another rank, at the end of the job.
  template <class T> Posting message(Posting::Way way, int peer, T *memory, uint64_t bytes) const {
    return {way, peer, endTag, {(char *)memory, bytes}};
  }
  bool isFirst() const { return carrier.rank() == 0; }

  static constexpr uint32_t endTag = 20000; // beyond those of fabrics

  const World &world;
  Carrier &carrier;
  std::atomic<uint32_t> exchanged{0};
  std::atomic<bool> hasHeard{false}; ///< a failure was reported by another rank
  std::atomic<bool> isSaid{false};
  bool isTold = false;    ///< the failure of the job was sent
  int64_t toldOfRank = 0; ///< the time of the last sent position
};

} // namespace xlc::runtime

#endif
