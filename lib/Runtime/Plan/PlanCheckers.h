// Checks whether a plan is consistent: every index is within its table, and every byte that an action may access is
// inside the arena, on every rank. A place is linear in the shard, so checking its first and last shard is sufficient.
// Numbers in a file are unbounded: sizes are quantities, whose products cannot wrap.
//
//   CheckTables.cpp     mesh, groups, parameters, states
//   PlannedSchedule.cpp the schedule of learning rates
//   CheckCalls.cpp      kernels, functions, library calls
//   CheckPrograms.cpp   the memory of a stage and its actions
//   CheckStreams.cpp    the order of accesses by several streams
//   CheckMeetings.cpp   the counterparts of the stages' messages, and the memory that programs share
//   CheckPlan.cpp       all of these, in the order of their dependences
#ifndef XLC_LIB_RUNTIME_PLAN_PLANCHECKERS_H
#define XLC_LIB_RUNTIME_PLAN_PLANCHECKERS_H

#include "Ranks.h"
#include "xlc/Support/Quantity.h"

#include <fmt/format.h>

namespace xlc::runtime {

/// A part of the check of a plan.
class PartChecker {
protected:
  /// `problems`: the list of errors, to which the part adds.
  PartChecker(const Plan &plan, std::vector<std::string> &problems) : plan(plan), problems(problems) {}

  template <class... Values> void require(bool condition, fmt::format_string<Values...> text, Values &&...values) {
    if (!condition && problems.size() < 20)
      problems.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  const Plan &plan;
  std::vector<std::string> &problems;
};

/// Checks the mesh, groups, stages, parameters and states.
class TableChecker : PartChecker {
public:
  TableChecker(const Plan &plan, std::vector<std::string> &problems) : PartChecker(plan, problems) {}

  /// Checks only the mesh, by whose sizes all other checks divide.
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
  /// The number of elements of a rank's piece; none if the layout is impossible.
  std::optional<Quantity> pieceElements(const plan::ParameterT &parameter);
  void checkOverlaps();
};

/// Checks the schedule of learning rates: its numbers are those that its type requires.
class ScheduleChecker : PartChecker {
public:
  ScheduleChecker(const Plan &plan, std::vector<std::string> &problems) : PartChecker(plan, problems) {}

  void check();
};

/// Checks kernels and the calls of functions.
class CallChecker : PartChecker {
public:
  /// `kernelCount`: the number of generated kernels of the binary.
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
  /// Checks that an operand of `bytes` bytes has this number of elements.
  void covers(const plan::CallT &call, uint64_t bytes, Quantity elements, plan::Element element);
  void checkLibraryCall(const plan::CallT &call, const plan::KernelT &kernel);
  void checkScatterCall(const plan::CallT &call, const plan::ScatterAddT &s);
  void checkContractCall(const plan::CallT &call, const plan::ContractT &c);
  void checkScatterIntoCall(const plan::CallT &call, const plan::ScatterIntoT &s);
  void checkWindowCall(const plan::CallT &call, const plan::KernelT &kernel);

  const uint64_t kernelCount;
};

/// Checks one program: the memory of its stage and its actions.
class ProgramChecker : PartChecker {
public:
  ProgramChecker(const Plan &plan, const plan::ProgramT &program, std::vector<std::string> &problems)
      : PartChecker(plan, problems), program(program), stage(program.stage) {}

  void checkStorage();
  void checkActions();
  /// Requires valid numbers. Checks that streams access the same bytes in one order.
  void checkOrder();

private:
  bool isInArena(Quantity begin, Quantity bytes) const {
    return begin >= 0 && bytes >= 0 && begin + bytes <= (Quantity)program.arena;
  }
  /// Checks that a place is in the arena; `from` and `bytes` are relative to the place.
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
  const uint32_t stage; ///< number of the stage
};

/// Compares programs with each other.
class MeetingChecker : PartChecker {
public:
  MeetingChecker(const Plan &plan, std::vector<std::string> &problems) : PartChecker(plan, problems) {}

  /// Checks that a program of another purpose has the arena of its stage, and its states at the places of the training
  /// program.
  void checkShared(const plan::ProgramT &program);
  /// Checks that the stages' messages and collectives of a purpose have their counterparts.
  void checkMeetings(plan::Purpose purpose);
};

/// Describes a state: "state 'm' of bucket 'bucket_0'", "bucket 'bucket_0'", "the loss of a step".
std::string describeState(const Plan &plan, const plan::StateT &state);
/// The bytes that a rank contributes to a collective of a known kind and group, and those that it receives.
std::pair<Quantity, Quantity> bytesOfExchange(const Plan &plan, const plan::ExchangeT &exchange);

} // namespace xlc::runtime

#endif
