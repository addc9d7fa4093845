// See Pieces.h.
#include "Pieces.h"

namespace xlc::runtime {

PieceShape::PieceShape(const Plan &plan, const plan::ParameterT &parameter) {
  if (!parameter.layout) {
    run = block = parameter.elements;
    return;
  }
  const plan::LayoutT &layout = *parameter.layout;
  uint64_t parts = groupSize(*plan.rank_groups[layout.group]);
  run = parameter.shape[layout.dim] / layout.outer;
  block = (run + parts - 1) / parts;
  for (size_t i = layout.dim + 1; i < parameter.shape.size(); ++i)
    rest *= parameter.shape[i];
}

const plan::BucketPlaceT *findBucket(const Plan &plan, uint32_t bucket, int rank) {
  for (const auto &home : programOf(plan, rank).buckets)
    if (home->bucket == bucket)
      return home.get();
  return nullptr;
}

static HeldPiece hold(const Plan &plan, const plan::BucketT &bucket, int rank, plan::Extent extent,
                      plan::Element element, uint64_t offset) {
  if (extent == plan::Extent::Whole)
    return {0, bucket.elements, element, offset};
  uint64_t begin = bucket.shard_elements * shardOf(plan, rank);
  return {begin, begin + bucket.shard_elements, element, offset};
}

HeldPiece findHeld(const Plan &plan, const plan::BucketPlaceT &home, int rank) {
  const plan::BucketT &bucket = *plan.buckets[home.bucket];
  return hold(plan, bucket, rank, bucket.params, bucket.element, offsetOf(*home.params, rank, *plan.mesh));
}

HeldPiece findMaster(const Plan &plan, const plan::BucketPlaceT &home, int rank) {
  const plan::BucketT &bucket = *plan.buckets[home.bucket];
  return hold(plan, bucket, rank, bucket.states_extent, bucket.updated, offsetOf(*home.master, rank, *plan.mesh));
}

} // namespace xlc::runtime
