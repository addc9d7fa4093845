// From the bytes in the binary to structs. The verifier of FlatBuffers proves that every offset stays inside the
// bytes; what the numbers mean is CheckPlan's business.
#include "Plan.h"

#include "xlc/Runtime/Kernel.h"

#include <fmt/format.h>

namespace xlc::runtime {

std::unique_ptr<Plan> readPlan(const uint8_t *bytes, uint64_t size) {
  flatbuffers::Verifier verifier(bytes, size, 64, 100'000'000);
  if (size < 8 || !plan::VerifyPlanBuffer(verifier))
    throw Rejected("error: the plan in this program is damaged");
  std::unique_ptr<Plan> plan = plan::UnPackPlan(bytes);
  if (plan->version != XLC_PLAN_VERSION)
    throw Rejected(fmt::format("error: the plan in this program has version {}, its runtime knows version {}",
                               plan->version, (int)XLC_PLAN_VERSION));
  return plan;
}

} // namespace xlc::runtime
