// Finds the first value of a step that is not finite. Each call, each collective and each load of the step is observed
// on all ranks; the result that comes first in the order of StepOrder.h is reported:
//
//     step 3, rank 1, micro-batch 0, action 'layer[2] F', operation '/h.2/mlp/Exp' (kernel_7: exp, add): element [0, 3]
//     of its result, F32 tensor 'layer[2] F//h.2/mlp/Exp', is inf; it read: tensor 'layer[2] F//h.2/mlp/Add', up to 112
//
// An infinite number is expected if the kernel has one among its constants, such as the score of a masked key, or if it
// reads one that is not a trained parameter.
#ifndef XLC_LIB_RUNTIME_JOB_EXAMINATION_H
#define XLC_LIB_RUNTIME_JOB_EXAMINATION_H

#include "Device/Observer.h"
#include "Failure.h"
#include "Files/Parameters.h"
#include "NonFinite.h"
#include "StepOrder.h"

#include <map>
#include <mutex>

namespace xlc::runtime {

class Examination : public Observer {
public:
  /// A step of training is observed, or run again, where it must not change states: its updates are skipped.
  enum class Step { Observed, RunAgain };
  /// `memoryOf` returns the memory of the process's ranks; a nonzero `signal` ends the examination, and skips the
  /// remaining calls of a step that is run again. All arguments outlive this object.
  Examination(const Plan &plan, Request &request, const std::atomic<int> &signal, Step step,
              std::function<RankMemory(int)> memoryOf);

  /// Call before a step is repeated: returns a line that announces it and its approximate duration.
  std::string announce(uint64_t step) const;
  /// Call when all ranks have met after a step. Returns a line about the first value on the rank that has it, or on
  /// rank 0 if there is none. Returns nothing on other ranks.
  std::string describe(int rank, uint64_t step);

  void call(const Position &at, const char *workspace, const std::function<void()> &run) override;
  void exchange(const Position &at, const std::function<void()> &run) override;
  void transfer(const Position &, const std::function<void()> &run) override { run(); }
  void act(const Position &at, const std::function<void()> &run) override;

private:
  struct Tensor {
    const plan::ViewT &view;
    const plan::Place *place;
    int64_t offset; ///< relative to the place
    NonFinite found;
  };
  class Reading;

  bool isInterrupted() const { return signal != 0 || request.signal != 0; }
  const plan::ProgramT &programAt(const Position &at) const;
  std::optional<uint64_t> keyOf(const Position &at) const;
  void look(const Position &at, const plan::CallT &call, const std::function<void()> &run);
  void note(const Position &at, uint64_t key, const std::string &what);
  const plan::ParameterT *findParameter(const Position &at, const Tensor &tensor) const;
  std::string describeOperand(const Position &at, const Tensor &tensor) const;
  std::string nameOf(const Position &at, const Tensor &tensor) const;

  const Plan &plan;
  Request &request;
  const std::atomic<int> &signal;
  const Step how;
  const std::function<RankMemory(int)> memoryOf;
  std::vector<std::vector<Moment>> moments; ///< by stage, then action
  std::vector<std::vector<bool>> updates;   ///< whether the action changes saved states, likewise

  std::mutex mutex;
  struct Found {
    uint64_t key;
    std::string text;
  };
  std::map<int, Found> found; ///< by rank
};

} // namespace xlc::runtime

#endif
