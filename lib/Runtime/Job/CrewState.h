// The state that the ranks of a process share, and the state of each rank. Crew creates it and starts the ranks;
// RankSteps runs the steps of each rank with it.
#ifndef XLC_LIB_RUNTIME_JOB_CREWSTATE_H
#define XLC_LIB_RUNTIME_JOB_CREWSTATE_H

#include "Company.h"
#include "Data/Prefetch.h"
#include "Data/RowSum.h"
#include "Embedded.h"
#include "Evaluation.h"
#include "Examination.h"
#include "Fabric/SlowFabric.h"
#include "Files/Parameters.h"
#include "Generation.h"
#include "Predictions.h"
#include "RunChoices.h"
#include "Saving.h"

#include <deque>
#include <thread>

namespace xlc::runtime {

class Speaker;

struct CrewState {
  /// See Crew.
  CrewState(const World &world, const Embedded &embedded, const Target &target, const std::unique_ptr<Machine> &machine,
            const Options &options, const Settings &settings, const std::atomic<int> &signal, bool speaks);
  ~CrewState();

  struct Rank {
    std::unique_ptr<Device> device;
    DeviceMemory arena;
    std::optional<RankTrace> trace;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<Evaluation> evaluation;          ///< null: this run does not evaluate
    std::unique_ptr<Executor> generator;             ///< null: this run does not generate tokens
    std::atomic<const Executor *> running = nullptr; ///< the current one of these; null: none has run yet
    std::thread thread;
  };
  Rank &own(int rank) { return ranks[rank - share.first]; }
  RankMemory memoryOf(int rank) { return {own(rank).device.get(), own(rank).arena.begin, target.isHost}; }
  Fabric &fabric() const { return slowLink ? *slowLink : world.ranksMeet(); }
  /// The pulses of a rank.
  Pulse *pulsesOf(int rank) const { return world.pulses() + (uint64_t)rank * pulsesPerRank; }

  const World &world;
  const Plan &plan;
  const Target &target;
  const std::unique_ptr<Machine> &machine;
  const DeviceSetup setup; ///< except for the machine
  const Options &options;
  const std::atomic<int> &signal;
  Resumption resumption;
  Data data;
  const std::unique_ptr<const Data> validation;   ///< null: this run does not evaluate
  const std::unique_ptr<Predictions> predictions; ///< null: this run writes no predictions
  const std::unique_ptr<Generation> generation;   ///< null: this run does not generate tokens
  Examination examination;
  ParameterNorms norms;
  const SavedData described; ///< of the data, for checkpoints; empty if none is written or read
  InitialValues values;
  uint64_t steps;        ///< of the run, from its start
  RateSchedule schedule; ///< over these steps
  Prefetch prefetch;
  RowSum rows;
  const std::unique_ptr<SlowFabric> slowLink; ///< null without --link-rate
  Saving saving;
  const std::unique_ptr<Speaker> speaker;
  Share share{};
  Company *company = nullptr; ///< valid during the run
  std::deque<Rank> ranks;
};

} // namespace xlc::runtime

#endif
