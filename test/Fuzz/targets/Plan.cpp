// The plan in a program. Whatever the bytes are: no crash, no hang, no leak, no undefined behaviour, less than 1 GiB,
// and a refusal is Rejected. In what is accepted every buffer and every shard of every bucket is in the arena.
#include "Require.h"

#include "Plan/Elements.h"
#include "Plan/Plan.h"
#include "Plan/Ranks.h"

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

constexpr uint64_t kernels = 64; // of the program that the plan is said to be in

bool isInArena(const plan::ProgramT &program, const plan::Mesh &mesh, const plan::Place &place, __int128 bytes) {
  for (uint32_t shard = 0; shard < mesh.shards(); ++shard) {
    __int128 begin = (__int128)place.offset() + (__int128)shard * place.stride();
    if (begin < 0 || begin + bytes > (__int128)program.arena)
      return false;
  }
  return true;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    const std::unique_ptr<Plan> plan = readPlan(sealPlan(data, size));
    checkPlan(*plan, kernels);
    for (const auto &program : plan->programs) {
      for (const auto &buffer : program->buffers)
        xlc::fuzz::require(isInArena(*program, *plan->mesh, plan::Place(buffer->offset, 0, 0), buffer->size),
                           "a buffer is in the arena");
      for (const auto &home : program->states) {
        const plan::StateT &state = *plan->states.at(home->state);
        __int128 elements = state.bucket ? keptElements(*plan->buckets.at(*state.bucket), state.extent) : 1;
        xlc::fuzz::require(isInArena(*program, *plan->mesh, *home->place, elements * bytesOf(state.element)),
                           "a state is in the arena");
      }
    }
  } catch (const Rejected &) {
  }
  return 0;
}
