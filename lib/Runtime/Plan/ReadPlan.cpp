// Unpacks the bytes in the binary to structs. The checksum shows that the compiler wrote these bytes; the verifier of
// FlatBuffers proves that every offset stays inside them; CheckPlan checks the meaning of the numbers.
#include "Plan.h"

#include "xlc/Runtime/Kernel.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace xlc::runtime {

PlanBytes sealPlan(const uint8_t *begin, uint64_t size) { return {begin, size, XXH3_64bits(begin, size)}; }

std::unique_ptr<Plan> readPlan(const PlanBytes &bytes) {
  if (uint64_t found = sealPlan(bytes.begin, bytes.size).checksum; found != bytes.checksum)
    throw Rejected(fmt::format("error: the plan in this program is damaged: its checksum is {:016x}, but {:016x} was "
                               "recorded; compile or copy the program again",
                               found, bytes.checksum));
  flatbuffers::Verifier verifier(bytes.begin, bytes.size, 64, 100'000'000);
  if (bytes.size < 8 || !plan::VerifyPlanBuffer(verifier))
    throw Rejected("error: the plan in this program is damaged");
  std::unique_ptr<Plan> plan = plan::UnPackPlan(bytes.begin);
  if (plan->version != XLC_PLAN_VERSION)
    throw Rejected(fmt::format("error: the plan in this program has version {}, but its runtime supports version {}",
                               plan->version, (int)XLC_PLAN_VERSION));
  return plan;
}

} // namespace xlc::runtime
