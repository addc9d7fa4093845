// Processes on other hosts, reached by notes and messages.
#ifndef XLC_LIB_RUNTIME_JOB_REMOTECOMPANY_H
#define XLC_LIB_RUNTIME_JOB_REMOTECOMPANY_H

#include "Company.h"
#include "Fabric/Carrier.h"

namespace xlc::runtime {

class RemoteCompany final : public Company {
public:
  /// Listens from now on. Lives as long as the carrier.
  RemoteCompany(const World &world, Carrier &carrier);

  void lookAfter() override {} // the launcher, or the carrier, notices that a process has gone
  void sayFailure() override;
  void publish(const StepResult &result) override;
  void collect() override;
  void readArena(int rank, uint64_t offset, uint64_t bytes, void *to) override;
  void end(Exit exit) override;
  Exit awaitEnd(const Left &left) override;

private:
  enum Kind : uint32_t { Failed, Said, Numbers, Whereabouts };
  /// What rank 0 asks of another, or tells it.
  struct Question {
    enum What : uint64_t { Arena, Commons, End } what;
    uint64_t from, bytes; ///< an offset, or a place; of an End the exit code
  };
  /// Where a rank is, as it crosses.
  struct Sight;

  void hear(int from, uint32_t kind, std::span<const char> bytes);
  void fail(const std::string &why);
  void takeFailure(int from, std::span<const char> bytes);
  void tick();
  void tellFailure(Kind kind);
  void tellWhereabouts();
  void takeWhereabouts(int from, std::span<const char> bytes);
  void ask(int rank, const Question &question, void *to);
  /// Throws ExchangeFailure where rank 0 asks for what is not there.
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
  std::atomic<bool> hasHeard{false}; ///< of a failure, from another rank
  std::atomic<bool> isSaid{false};
  bool isTold = false;    ///< that the job has failed
  int64_t toldOfRank = 0; ///< when
};

} // namespace xlc::runtime

#endif
