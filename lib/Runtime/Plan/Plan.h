// The embedded plan in the form that the runtime uses: FlatBuffers' own unpacked structs, verified and checked once at
// start, then trusted.
#ifndef XLC_LIB_RUNTIME_PLAN_PLAN_H
#define XLC_LIB_RUNTIME_PLAN_PLAN_H

#include "Elements.h"
#include "Failure.h"

#include "Plan_generated.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace xlc::runtime {

using Plan = plan::PlanT;

/// The number of purposes of programs.
inline constexpr unsigned purposes = (unsigned)plan::Purpose::MAX + 1;

/// The bytes of the plan in a program. `checksum`: the 64-bit XXH3, computed with the program. It detects damage that
/// the check of a plan cannot find (another factor, another place within the arena).
struct PlanBytes {
  const uint8_t *begin;
  uint64_t size, checksum;
};

/// Adds the checksum of these bytes.
PlanBytes sealPlan(const uint8_t *begin, uint64_t size);

/// Unpacks the plan. Throws Rejected if the bytes are not a plan, or do not match the checksum.
std::unique_ptr<Plan> readPlan(const PlanBytes &bytes);

/// Checks that every index and every address of the plan is in range. Throws Rejected with all errors. `kernelCount` is
/// the number of generated kernels of the binary.
void checkPlan(const Plan &plan, uint64_t kernelCount);

/// The byte offset of a place in the arena of `rank`.
inline int64_t offsetOf(const plan::Place &place, int rank, const plan::Mesh &mesh) {
  return (int64_t)place.offset() + (int64_t)((uint32_t)rank / mesh.tp() % mesh.dp() % mesh.shards()) * place.stride();
}

inline uint64_t rowElements(const plan::InputT &input) {
  uint64_t count = 1;
  for (uint64_t dim : input.row_shape)
    count *= dim;
  return count;
}

/// The number of elements of an output for a sample.
inline uint64_t sampleElements(const plan::OutputT &output) {
  uint64_t count = output.lines;
  for (uint64_t dim : output.shape)
    count *= dim;
  return count;
}

/// The name under which the data of an input are given.
inline const std::string &dataName(const plan::InputT &input) {
  return input.whole_of.empty() ? input.name : input.whole_of;
}

/// The parameter with a name, which may be one that is tied to it; or the end of the list.
inline std::vector<std::unique_ptr<plan::ParameterT>>::const_iterator findParameter(const Plan &plan,
                                                                                    const std::string &name) {
  return std::find_if(plan.parameters.begin(), plan.parameters.end(), [&](const auto &parameter) {
    return parameter->name == name || std::ranges::find(parameter->ties, name) != parameter->ties.end();
  });
}

/// Whether the rows of an input are data of the user; the runtime writes the other inputs.
inline bool isOfData(const plan::InputT &input) { return !input.samples; }

/// Whether a state holds the parameters of a bucket in the form that units read: values, or running averages.
inline bool isRead(const plan::StateT &state) {
  return state.kind == plan::StateKind::Value || state.kind == plan::StateKind::RunningAverage;
}

/// Whether a state is one number of a rank, and whether it is one tensor for each member of its bucket.
inline bool isNumber(const plan::StateT &state) {
  return state.kind == plan::StateKind::Counter || state.kind == plan::StateKind::Result ||
         state.kind == plan::StateKind::Index || state.kind == plan::StateKind::Site;
}
inline bool isOfBucket(const plan::StateT &state) { return !isNumber(state) && state.kind != plan::StateKind::Members; }

/// The place of a number of a kind and a name on a stage; null if there is none.
inline const plan::Place *findNumber(const Plan &plan, const plan::ProgramT &program, plan::StateKind kind,
                                     std::string_view name) {
  for (const auto &home : program.states)
    if (const plan::StateT &row = *plan.states[home->state]; row.kind == kind && row.name == name)
      return home->place.get();
  return nullptr;
}

/// The number of rows of data that a step consumes.
inline uint64_t globalBatch(const Plan &plan) { return (uint64_t)plan.mesh->dp() * plan.micro * plan.micro_batches; }

/// The number of rows of an input in one load.
inline uint64_t rowsOf(const Plan &plan, const plan::InputT &input) {
  return input.whole_of.empty() ? plan.micro : globalBatch(plan);
}

} // namespace xlc::runtime

#endif
