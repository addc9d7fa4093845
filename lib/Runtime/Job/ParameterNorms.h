// Implements --log-norms: norm and largest magnitude of the gradient and the update of each trained parameter. Each
// rank computes its sums at its updates, in memory that rank 0 reads; rank 0 adds the sums of all ranks.
//
//   scalars   norm of all gradients / sqrt(sum of their squares)    the factor on gradients, without clipping
//   update    gradient, parameter before and after                  squares and magnitudes, by parameter
//
// If several ranks hold the same elements, only the first counts them: the first of the replicas in dp, of a
// tensor-parallel group that does not cut the parameter, and of the stages that share it.
#ifndef XLC_LIB_RUNTIME_JOB_PARAMETERNORMS_H
#define XLC_LIB_RUNTIME_JOB_PARAMETERNORMS_H

#include "Device/Observer.h"
#include "Files/Parameters.h"

#include <cmath>
#include <string>
#include <vector>

namespace xlc::runtime {

/// Sums over the elements of one parameter that a rank counts.
struct ParameterNorm {
  double gradient = 0, update = 0;               ///< sums of squares; the gradient without the factor
  double largestGradient = 0, largestUpdate = 0; ///< largest magnitudes
};

class ParameterNorms : public Observer {
public:
  /// `normsOf` returns a rank's row of numbers, indexed as the plan's parameters, which rank 0 can read too.
  ParameterNorms(const Plan &plan, std::function<RankMemory(int)> memoryOf,
                 std::function<ParameterNorm *(int)> normsOf);

  /// Call on rank 0 when all ranks have met after an observed step: returns a line of the log.
  std::string describe(uint64_t step) const;

  void call(const Position &at, const char *workspace, const std::function<void()> &run) override;
  void exchange(const Position &, const std::function<void()> &run) override { run(); }
  void transfer(const Position &, const std::function<void()> &run) override { run(); }
  void act(const Position &at, const std::function<void()> &run) override;

private:
  struct Read;
  Read read(const Position &at, const plan::CallT &call, size_t operand) const;
  void readFactor(const Position &at, const plan::CallT &call);
  void readUpdate(const Position &at, const plan::CallT &call, const std::function<void()> &run);
  bool counts(int rank, const plan::ParameterT &parameter) const;

  const Plan &plan;
  const std::function<RankMemory(int)> memoryOf;
  const std::function<ParameterNorm *(int)> normsOf;
  std::vector<std::vector<bool>> updates; ///< by stage, then action
  double factor = NAN;                    ///< the factor in rank 0's step
};

} // namespace xlc::runtime

#endif
