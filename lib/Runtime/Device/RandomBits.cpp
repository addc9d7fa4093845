// See RandomBits.h.
#include "RandomBits.h"

#include "Plan/Philox.h"

#include <algorithm>

namespace xlc::runtime {

RandomBits::RandomBits(const Plan &plan, uint32_t bucket, int rank) {
  const plan::BucketT &home = *plan.buckets[bucket];
  if (home.updates == plan::Extent::Shard)
    first = home.shard_elements * shardOf(plan, rank);
  for (const auto &parameter : plan.parameters)
    if (parameter->bucket == bucket)
      members.push_back({memberOf(plan, *parameter, rank), hashName(parameter->name)});
  std::ranges::sort(members, {}, &Member::begin);
}

void RandomBits::beginStep(uint64_t seed, uint64_t step) { key = keyOfStep(seed, step); }

} // namespace xlc::runtime
