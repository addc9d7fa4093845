// The embedded plan as the runtime works with it: FlatBuffers' own unpacked structs, verified and checked once at
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

/// How many purposes programs may have.
inline constexpr unsigned purposes = (unsigned)plan::Purpose::MAX + 1;

/// The plan as a program holds it. `checksum`: XXH3 with 64 bits, made with the program. What the check of a plan cannot see (another
/// factor, another place within the arena) is damage all the same.
struct PlanBytes {
  const uint8_t *begin;
  uint64_t size, checksum;
};

/// With the checksum that these bytes have.
PlanBytes sealPlan(const uint8_t *begin, uint64_t size);

/// Unpacks the plan; throws Rejected where the bytes are no plan, or not those of which the checksum is.
std::unique_ptr<Plan> readPlan(const PlanBytes &bytes);

/// Checks that every index and every address of the plan is in range; throws Rejected with all that is wrong.
/// `kernelCount` is the number of generated kernels of the binary.
void checkPlan(const Plan &plan, uint64_t kernelCount);

/// Byte offset of a place in the arena of `rank`.
inline int64_t offsetOf(const plan::Place &place, int rank, const plan::Mesh &mesh) {
  return (int64_t)place.offset() + (int64_t)((uint32_t)rank / mesh.tp() % mesh.dp() % mesh.shards()) * place.stride();
}

inline uint64_t rowElements(const plan::InputT &input) {
  uint64_t count = 1;
  for (uint64_t dim : input.row_shape)
    count *= dim;
  return count;
}

/// Elements that an output has of a sample.
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

/// The parameter of a name, which may be one that is tied to it; or the end of the list.
inline std::vector<std::unique_ptr<plan::ParameterT>>::const_iterator findParameter(const Plan &plan,
                                                                                    const std::string &name) {
  return std::find_if(plan.parameters.begin(), plan.parameters.end(), [&](const auto &parameter) {
    return parameter->name == name || std::ranges::find(parameter->ties, name) != parameter->ties.end();
  });
}

/// Whether the rows of an input are data of the user; others the runtime writes.
inline bool isOfData(const plan::InputT &input) { return !input.samples; }

/// Whether a state holds the parameters of a bucket as units read them: values, or running averages.
inline bool isRead(const plan::StateT &state) {
  return state.kind == plan::StateKind::Value || state.kind == plan::StateKind::RunningAverage;
}

/// Whether it is one number of a rank, and whether it is one tensor for each member of its bucket.
inline bool isNumber(const plan::StateT &state) {
  return state.kind == plan::StateKind::Counter || state.kind == plan::StateKind::Result ||
         state.kind == plan::StateKind::Index || state.kind == plan::StateKind::Site;
}
inline bool isOfBucket(const plan::StateT &state) { return !isNumber(state) && state.kind != plan::StateKind::Members; }

/// Where a stage keeps a number of a kind and a name; null: it does not.
inline const plan::Place *findNumber(const Plan &plan, const plan::ProgramT &program, plan::StateKind kind,
                                     std::string_view name) {
  for (const auto &home : program.states)
    if (const plan::StateT &row = *plan.states[home->state]; row.kind == kind && row.name == name)
      return home->place.get();
  return nullptr;
}

/// Rows of data that a step consumes.
inline uint64_t globalBatch(const Plan &plan) { return (uint64_t)plan.mesh->dp() * plan.micro * plan.micro_batches; }

/// Rows of an input that one load brings.
inline uint64_t rowsOf(const Plan &plan, const plan::InputT &input) {
  return input.whole_of.empty() ? plan.micro : globalBatch(plan);
}

} // namespace xlc::runtime

#endif
