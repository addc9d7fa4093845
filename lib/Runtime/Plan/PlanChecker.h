// Whether a plan makes sense: every index in its table, every byte that an action may touch inside the arena, on
// every rank. A place is linear in the shard, so its first and last shard stand for all. What a file says has no bound: sizes
// are quantities, whose products cannot wrap.
//
//   CheckPlan.cpp       mesh, groups, what is stored where
//   CheckCalls.cpp      kernels, functions, library calls
//   CheckPrograms.cpp   actions, and whether the stages' messages meet
//   CheckStreams.cpp    whether what streams share has an order
#ifndef XLC_LIB_RUNTIME_PLAN_PLANCHECKER_H
#define XLC_LIB_RUNTIME_PLAN_PLANCHECKER_H

#include "Ranks.h"
#include "xlc/Support/Quantity.h"

#include <fmt/format.h>

namespace xlc::runtime {

class PlanChecker {
public:
  PlanChecker(const Plan &plan, uint64_t kernelCount) : plan(plan), kernelCount(kernelCount) {}

  /// Throws Rejected with all that is wrong.
  void checkAll();

private:
  template <class... Values> void require(bool condition, fmt::format_string<Values...> text, Values &&...values) {
    if (!condition && problems.size() < 20)
      problems.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  bool isInArena(Quantity begin, Quantity bytes) const {
    return begin >= 0 && bytes >= 0 && begin + bytes <= (Quantity)program->arena;
  }
  /// In the arena of `program`; `from` and `bytes` are relative to the place.
  void checkPlace(const plan::Place *place, Quantity bytes, const std::string &what, Quantity from = 0);

  void checkSizes();
  void checkStages();
  void checkMesh();
  void checkGroup(const plan::RankGroupT &group, size_t number);
  void checkStorage();
  void checkState(const plan::StateT &state, size_t number);
  std::string describeState(const plan::StateT &state) const;
  /// That a rank has of it.
  uint64_t countElements(const plan::StateT &state) const;
  void checkParameter(const plan::ParameterT &parameter);
  /// Elements of a rank's piece; none where the layout is impossible.
  std::optional<Quantity> pieceElements(const plan::ParameterT &parameter);
  void checkProgramStorage();

  void checkKernels();
  void checkContract(const plan::ContractT &contract, const std::string &name);
  void checkFunctions();
  void checkCall(const plan::FunctionT &function, const plan::CallT &call);
  void checkExchange(const plan::CallT &call, const std::string &what);
  /// What a rank gives to a collective of a known kind and group, and what it gets.
  std::pair<Quantity, Quantity> bytesOfExchange(const plan::ExchangeT &exchange);
  static bool isReduction(plan::CollectiveKind kind) {
    return kind == plan::CollectiveKind::all_reduce || kind == plan::CollectiveKind::all_reduce_max;
  }
  /// That an operand of `bytes` bytes has so many elements.
  void covers(const plan::CallT &call, uint64_t bytes, Quantity elements, plan::Element element);
  void checkLibraryCall(const plan::CallT &call, const plan::KernelT &kernel);
  void checkScatterCall(const plan::CallT &call, const plan::ScatterAddT &s);
  void checkContractCall(const plan::CallT &call, const plan::ContractT &c);
  void checkScatterIntoCall(const plan::CallT &call, const plan::ScatterIntoT &s);
  void checkWindowCall(const plan::CallT &call, const plan::KernelT &kernel);

  void checkProgram();
  void checkStep(const plan::StepT &step);
  void checkStream(const plan::StepT &step, size_t index);
  void checkCollective(uint32_t group, const std::string &what);
  void checkExchange(const plan::ExchangeT &exchange, const std::string &what);
  void checkTransfer(const plan::Place *place, Quantity bytes, uint32_t peer, const std::string &what);
  void checkOverlaps();
  void checkBegin(const plan::BeginT &begin, const std::string &what);
  void checkRun(const plan::RunT &run, const std::string &label);
  void checkLoad(const plan::LoadT &load, const std::string &label);
  void checkMeetings(plan::Purpose purpose);
  /// That a program of another purpose has its stage's arena and states where that which trains has them.
  void checkShared(const plan::ProgramT &program);
  /// Of `program`, whose numbers are right: streams that touch the same bytes do so in one order.
  void checkOrder();

  const Plan &plan;
  const uint64_t kernelCount;
  const plan::ProgramT *program = nullptr; ///< at which we look
  uint32_t stage = 0;                      ///< its number
  std::vector<std::string> problems;
};

} // namespace xlc::runtime

#endif
