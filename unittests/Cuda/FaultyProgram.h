// A program for GPUs whose plan is damaged before it starts, on simulated devices: in one process, whose ranks are threads, or in
// one for each rank, which have plans of their own.
#ifndef XLC_UNITTESTS_CUDA_FAULTYPROGRAM_H
#define XLC_UNITTESTS_CUDA_FAULTYPROGRAM_H

#include "Device/Target.h"
#include "Plan/Plan.h"

#include <functional>
#include <string>
#include <vector>

namespace xlc::test {

/// What is planted.
using Damage = std::function<void(runtime::Plan &)>;
inline void leaveSound(runtime::Plan &) {}

class FaultyProgram {
public:
  /// Compiles a model of the examples. Aborts where that cannot be done.
  FaultyProgram(const std::string &model, const std::string &spec);
  ~FaultyProgram();
  FaultyProgram(const FaultyProgram &) = delete;

  struct Outcome {
    std::string losses; ///< as the log has them; none: it did not come to an end
    std::string said;
  };
  /// Trains two steps. One plan for all ranks, or one for each.
  Outcome train(const std::vector<Damage> &plans) const;
  /// Trains some steps action by action, without graphs, on devices of this target.
  Outcome trainOn(const runtime::Target &target, int steps) const;
  /// What is planted is found, with these words where it is one of the device's or the plan's complaints.
  void expectFound(const std::vector<Damage> &plans, const std::string &words) const;
  void expectFound(const Damage &plan, const std::string &words) const {
    expectFound(std::vector<Damage>{plan}, words);
  }

private:
  /// How a run differs from the sound one.
  struct Variant {
    Damage damage;
    const runtime::Target &target;
    int steps = 2;
    bool hasGraphs = true;
  };
  Outcome train(const std::vector<Variant> &ranks) const;
  int start(const Variant &variant, int rank, int ranks) const;
  int run(const Variant &variant) const;

  std::string folder, program;
  std::string sound; ///< losses of the program as it is
};

} // namespace xlc::test

#endif
