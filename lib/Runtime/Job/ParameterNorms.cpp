// See ParameterNorms.h. The operands of an update are those of lib/Memory/UpdateKernel.h: the updated values, then the
// gradient. Those of @scalars are the sums of the loss, of the targets and of the squares; its second result is the
// norm.
#include "ParameterNorms.h"

#include "Plan/Elements.h"
#include "State/States.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace xlc::runtime {
namespace {

constexpr char scalarsLabel[] = "scalars";
constexpr size_t movedOperand = 0, gradientOperand = 1, squaresOperand = 2, normResult = 1;

nlohmann::json numberOf(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

} // namespace

/// The elements of an operand, in the host's memory.
struct ParameterNorms::Read {
  plan::Element element;
  uint64_t count;
  uint64_t offset; ///< in the rank's arena
  std::vector<char> bytes;

  double at(uint64_t i) const { return getNumber(element, bytes.data(), i); }
};

ParameterNorms::ParameterNorms(const Plan &plan, std::function<RankMemory(int)> memoryOf,
                               std::function<ParameterNorm *(int)> normsOf)
    : plan(plan), memoryOf(std::move(memoryOf)), normsOf(std::move(normsOf)) {
  for (uint32_t stage = 0; stage < plan.mesh->pp(); ++stage)
    updates.push_back(findUpdates(plan, *findProgram(plan, plan::Purpose::train, stage)));
}

/// `operand` counts the ins of the call, then its outs.
ParameterNorms::Read ParameterNorms::read(const Position &at, const plan::CallT &call, size_t operand) const {
  const plan::RunT &run = *trainingProgramOf(plan, at.rank).steps[at.action]->action.AsRun();
  bool isResult = operand >= call.ins.size();
  const plan::Operand &place = isResult ? call.outs[operand - call.ins.size()] : call.ins[operand];
  const plan::ViewT &view = *plan.views[isResult ? call.out_views[operand - call.ins.size()] : call.in_views[operand]];
  Read made{view.element, 1, (uint64_t)(offsetOf(run.places[place.slot()], at.rank, *plan.mesh) + place.offset()), {}};
  for (uint64_t size : view.sizes)
    made.count *= size;
  RankMemory memory = memoryOf(at.rank);
  made.bytes.resize(made.count * bytesOf(made.element));
  memory.device->read(made.bytes.data(), memory.arena + made.offset, made.bytes.size());
  return made;
}

/// `exec.begin` clears the rank's sums.
void ParameterNorms::act(const Position &at, const std::function<void()> &run) {
  run();
  if (trainingProgramOf(plan, at.rank).steps[at.action]->action.AsBegin())
    std::fill_n(normsOf(at.rank), plan.parameters.size(), ParameterNorm());
}

void ParameterNorms::call(const Position &at, const char *, const std::function<void()> &run) {
  const plan::StepT &step = *trainingProgramOf(plan, at.rank).steps[at.action];
  const plan::CallT &call = *plan.functions[step.action.AsRun()->function]->calls[at.call];
  if (updates[stageOf(plan, at.rank)][at.action])
    return readUpdate(at, call, run);
  run();
  if (at.rank == 0 && step.label == scalarsLabel)
    readFactor(at, call);
}

void ParameterNorms::readFactor(const Position &at, const plan::CallT &call) {
  double squares = read(at, call, squaresOperand).at(0);
  factor = squares > 0 ? read(at, call, call.ins.size() + normResult).at(0) / std::sqrt(squares) : 1;
}

bool ParameterNorms::counts(int rank, const plan::ParameterT &parameter) const {
  const plan::Mesh &mesh = *plan.mesh;
  uint32_t dpIndex = (uint32_t)rank / mesh.tp() % mesh.dp(), tpIndex = (uint32_t)rank % mesh.tp();
  bool isSharded = plan.buckets[parameter.bucket]->updates == plan::Extent::Shard;
  if (isSharded ? dpIndex >= mesh.shards() : dpIndex > 0)
    return false;
  if (stageOf(plan, rank) != stageOf(plan, findFirstHolder(plan, parameter.bucket)))
    return false;
  if (!parameter.layout)
    return tpIndex == 0;
  uint64_t own = memberOf(plan, parameter, rank).index;
  for (int other = rank - (int)tpIndex; other < rank; ++other)
    if (memberOf(plan, parameter, other).index == own)
      return false;
  return true;
}

void ParameterNorms::readUpdate(const Position &at, const plan::CallT &call, const std::function<void()> &run) {
  Read before = read(at, call, movedOperand), gradient = read(at, call, gradientOperand);
  run();
  Read after = read(at, call, movedOperand);
  ParameterNorm *norms = normsOf(at.rank);
  forEachState(plan, at.rank, [&](const HeldState &held) {
    bool isMoved = held.offset <= before.offset && before.offset < held.offset + held.getBytes();
    if (!isMoved)
      return;
    uint64_t begin = held.begin + (before.offset - held.offset) / bytesOf(held.row->element);
    for (size_t p = 0; p < plan.parameters.size(); ++p) {
      const plan::ParameterT &parameter = *plan.parameters[p];
      uint64_t first = std::max(begin, parameter.offset),
               last = std::min(begin + before.count, parameter.offset + parameter.elements);
      if (parameter.bucket != held.row->bucket || first >= last || !counts(at.rank, parameter))
        continue;
      for (uint64_t i = first - begin; i < last - begin; ++i) {
        double g = gradient.at(i), u = after.at(i) - before.at(i);
        norms[p].gradient += g * g, norms[p].update += u * u;
        norms[p].largestGradient = std::max(norms[p].largestGradient, std::abs(g));
        norms[p].largestUpdate = std::max(norms[p].largestUpdate, std::abs(u));
      }
    }
  });
}

std::string ParameterNorms::describe(uint64_t step) const {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (size_t p = 0; p < plan.parameters.size(); ++p) {
    if (!isTrained(plan, *plan.parameters[p]))
      continue;
    ParameterNorm sum;
    for (int rank = 0; rank < (int)rankCount(plan); ++rank) {
      const ParameterNorm &own = normsOf(rank)[p];
      sum.gradient += own.gradient, sum.update += own.update;
      sum.largestGradient = std::max(sum.largestGradient, own.largestGradient);
      sum.largestUpdate = std::max(sum.largestUpdate, own.largestUpdate);
    }
    all[plan.parameters[p]->name] = {{"gradient", numberOf(std::sqrt(sum.gradient) * factor)},
                                     {"largest_gradient", numberOf(sum.largestGradient * factor)},
                                     {"update", numberOf(std::sqrt(sum.update))},
                                     {"largest_update", numberOf(sum.largestUpdate)}};
  }
  return fmt::format("{{\"step\":{},\"norms\":{}}}\n", step, all.dump());
}

} // namespace xlc::runtime
