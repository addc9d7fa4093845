// The other processes of a job, from the view of one of them: checks that required processes are alive, selects the
// process that reports a failure, and transfers the results of ranks to rank 0.
#ifndef XLC_LIB_RUNTIME_JOB_COMPANY_H
#define XLC_LIB_RUNTIME_JOB_COMPANY_H

#include "Launch/Peers.h"
#include "World.h"

namespace xlc::runtime {

/// The results of a rank that has ended.
struct Left {
  int rank;
  Device &device;
  const char *arena;
};

class Company {
public:
  virtual ~Company() = default;

  /// Ends the job if a required process has ended. Must be called every few hundredths of a second.
  virtual void lookAfter() = 0;
  /// If the job has failed, returns after one process has reported the reason.
  virtual void sayFailure() = 0;

  /// Called by the rank that computes a step's numbers, at its end: makes them available to rank 0.
  virtual void publish(const StepResult &result) = 0;
  /// Called by rank 0 when all ranks have met after the last step: fetches the results that others have left in their
  /// commons.
  virtual void collect() = 0;
  /// Called by rank 0: reads from the arena of a rank of another process.
  virtual void readArena(int rank, uint64_t offset, uint64_t bytes, void *to) = 0;
  /// Called by rank 0: releases the other processes, which end with the same exit code.
  virtual void end(Exit exit) = 0;
  /// Called by every other process, with the results of its rank: returns when rank 0 no longer needs it. Throws
  /// Stopped if the job ends first.
  virtual Exit awaitEnd(const Left &left) = 0;
};

/// Reports why the job failed, if it did and no process has reported it.
void sayFailure(StopSignal &stop);

/// The company of processes on one host, which share the world's memory. It is empty if ranks are threads.
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
