// Whether a plan makes sense: every index in its table, every byte that an action may touch inside the arena, on
// every rank. A place is linear in the shard, so its first and last shard stand for all. What a file says has no bound: sizes
// are quantities, whose products cannot wrap.
//
//   CheckTables.cpp     mesh, groups, parameters, states
//   PlannedSchedule.cpp the schedule of learning rates
//   CheckCalls.cpp      kernels, functions, library calls
//   CheckPrograms.cpp   what a stage keeps where, and its actions
//   CheckStreams.cpp    whether what streams share has an order
//   CheckMeetings.cpp   whether the stages' messages meet, and what programs share
//   CheckPlan.cpp       all of these, in the order in which they rely on each other
#ifndef XLC_LIB_RUNTIME_PLAN_PLANCHECKERS_H
#define XLC_LIB_RUNTIME_PLAN_PLANCHECKERS_H

#include "Ranks.h"
#include "xlc/Support/Quantity.h"

#include <fmt/format.h>

namespace xlc::runtime {

/// A part of the check of a plan.
class PartChecker {
protected:
  /// `problems`: what is wrong, in words, which the part adds to.
  PartChecker(const Plan &plan, std::vector<std::string> &problems) : plan(plan), problems(problems) {}

  template <class... Values> void require(bool condition, fmt::format_string<Values...> text, Values &&...values) {
    if (!condition && problems.size() < 20)
      problems.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const Plan &plan;
  std::vector<std::string> &problems;
};

/// Mesh, groups, stages, and which parameters and states there are.
class TableChecker : PartChecker {
public:
  TableChecker(const Plan &plan, std::vector<std::string> &problems) : PartChecker(plan, problems) {}

  /// Of the mesh alone, by whose sizes all else divides.
  void checkSizes();
  void checkStages();
  void checkMesh();
  void checkStorage();

private:
  void checkGroup(const plan::RankGroupT &group, size_t number);
  void checkState(const plan::StateT &state, size_t number);
  void checkParameter(const plan::ParameterT &parameter);
  void checkInput(const plan::InputT &input);
  void checkOutput(const plan::OutputT &output);
  void checkView(const plan::ViewT &view, size_t number);
  void checkDataset(const plan::DatasetT *dataset);
  void checkEvaluation(const plan::EvaluationT &evaluation);
  /// Elements of a rank's piece; none where the layout is impossible.
  std::optional<Quantity> pieceElements(const plan::ParameterT &parameter);
  void checkOverlaps();
};

/// The schedule of learning rates: its numbers are those that its type takes.
class ScheduleChecker : PartChecker {
public:
  ScheduleChecker(const Plan &plan, std::vector<std::string> &problems) : PartChecker(plan, problems) {}

  void check();
};

/// Kernels, and the calls of functions.
class CallChecker : PartChecker {
public:
  /// `kernelCount`: generated kernels of the binary.
  CallChecker(const Plan &plan, uint64_t kernelCount, std::vector<std::string> &problems)
      : PartChecker(plan, problems), kernelCount(kernelCount) {}

  void checkKernels();
  void checkFunctions();

private:
  void checkContract(const plan::ContractT &contract, const std::string &name);
  void checkCall(const plan::FunctionT &function, const plan::CallT &call);
  void checkExchange(const plan::CallT &call, const std::string &what);
  void checkViews(size_t operands, const std::vector<uint32_t> &views, const std::vector<uint64_t> &bytes,
                  const std::string &what);
  /// That an operand of `bytes` bytes has so many elements.
  void covers(const plan::CallT &call, uint64_t bytes, Quantity elements, plan::Element element);
  void checkLibraryCall(const plan::CallT &call, const plan::KernelT &kernel);
  void checkScatterCall(const plan::CallT &call, const plan::ScatterAddT &s);
  void checkContractCall(const plan::CallT &call, const plan::ContractT &c);
  void checkScatterIntoCall(const plan::CallT &call, const plan::ScatterIntoT &s);
  void checkWindowCall(const plan::CallT &call, const plan::KernelT &kernel);

  const uint64_t kernelCount;
};

/// One program: what its stage keeps where, and its actions.
class ProgramChecker : PartChecker {
public:
  ProgramChecker(const Plan &plan, const plan::ProgramT &program, std::vector<std::string> &problems)
      : PartChecker(plan, problems), program(program), stage(program.stage) {}

  void checkStorage();
  void checkActions();
  /// Of numbers that are right: streams that touch the same bytes do so in one order.
  void checkOrder();

private:
  bool isInArena(Quantity begin, Quantity bytes) const {
    return begin >= 0 && bytes >= 0 && begin + bytes <= (Quantity)program.arena;
  }
  /// In the arena; `from` and `bytes` are relative to the place.
  void checkPlace(const plan::Place *place, Quantity bytes, const std::string &what, Quantity from = 0);
  void checkStep(const plan::StepT &step);
  void checkStream(const plan::StepT &step, size_t index);
  void checkCollective(uint32_t group, const std::string &what);
  void checkExchange(const plan::ExchangeT &exchange, const std::string &what);
  void checkTransfer(const plan::Place *place, Quantity bytes, uint32_t peer, const std::string &what);
  void checkBegin(const plan::BeginT &begin, const std::string &what);
  void checkRun(const plan::RunT &run, const std::string &label);
  void checkLoad(const plan::LoadT &load, const std::string &label);
  void checkStore(const plan::StoreT &store, const std::string &label);

  const plan::ProgramT &program;
  const uint32_t stage; ///< its number
};

/// Programs against each other.
class MeetingChecker : PartChecker {
public:
  MeetingChecker(const Plan &plan, std::vector<std::string> &problems) : PartChecker(plan, problems) {}

  /// That a program of another purpose has its stage's arena and states where that which trains has them.
  void checkShared(const plan::ProgramT &program);
  /// That the stages' messages and collectives of a purpose have their counterparts.
  void checkMeetings(plan::Purpose purpose);
};

/// "state 'm' of bucket 'bucket_0'", "bucket 'bucket_0'", "the loss of a step".
std::string describeState(const Plan &plan, const plan::StateT &state);
/// What a rank gives to a collective of a known kind and group, and what it gets.
std::pair<Quantity, Quantity> bytesOfExchange(const Plan &plan, const plan::ExchangeT &exchange);

} // namespace xlc::runtime

#endif
