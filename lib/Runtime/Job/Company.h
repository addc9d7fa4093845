// The other processes of a job, as one of them knows them: whether those that are needed are still there, who of all says why
// the job failed, and how what ranks leave behind comes to rank 0.
#ifndef XLC_LIB_RUNTIME_JOB_COMPANY_H
#define XLC_LIB_RUNTIME_JOB_COMPANY_H

#include "Launch/Peers.h"
#include "World.h"

namespace xlc::runtime {

/// What a rank leaves when it has ended.
struct Left {
  int rank;
  Device &device;
  const char *arena;
};

class Company {
public:
  virtual ~Company() = default;

  /// Ends the job where a process has gone that is needed. To be called every few hundredths of a second.
  virtual void lookAfter() = 0;
  /// Where the job has failed, returns when one process has said why.
  virtual void sayFailure() = 0;

  /// Of the rank that has a step's numbers, at its end: brings them before rank 0.
  virtual void publish(const StepResult &result) = 0;
  /// Of rank 0, when all ranks have met after the last step: brings what others have left in their commons.
  virtual void collect() = 0;
  /// Of rank 0: reads what lies in the arena of a rank of another process.
  virtual void readArena(int rank, uint64_t offset, uint64_t bytes, void *to) = 0;
  /// Of rank 0: frees the others, which end with the same exit code.
  virtual void end(Exit exit) = 0;
  /// Of any other, whose rank left this: returns when rank 0 needs it no more. Throws Stopped where the job ends instead.
  virtual Exit awaitEnd(const Left &left) = 0;
};

/// Says why the job failed, if it did and nobody has.
void sayFailure(StopSignal &stop);

/// Processes of one host, which share the world's memory; or none, where ranks are threads.
class HostCompany final : public Company {
public:
  explicit HostCompany(const World &world, Peers lines = {}) : world(world), lines(std::move(lines)) {}

  void lookAfter() override;
  void sayFailure() override { runtime::sayFailure(world.stop()); }
  void publish(const StepResult &result) override { world.publish(result); }
  void collect() override {}
  void readArena(int rank, uint64_t offset, uint64_t bytes, void *to) override;
  void end(Exit exit) override;
  Exit awaitEnd(const Left &left) override;

private:
  void answer(const Left &left);

  const World &world;
  const Peers lines;
};

} // namespace xlc::runtime

#endif
