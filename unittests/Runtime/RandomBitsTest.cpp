// Random bits of an update: an element of a parameter has the same ones wherever it lies, on every layout of ranks.
#include "Cpu/DrawBits.h"
#include "Plan/Philox.h"

#include <gtest/gtest.h>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

constexpr uint64_t rows = 3, columns = 10, biasElements = 5, seed = 7, step = 2;

/// w [3, 10], cut along its columns by tp, and b [5], in one bucket, of whose states dp ranks have shards.
Plan makePlan(uint32_t dp, uint32_t tp) {
  Plan plan;
  plan.mesh = std::make_unique<plan::Mesh>(1, dp, tp, dp);
  auto group = std::make_unique<plan::RankGroupT>();
  group->axis = plan::Axis::tp;
  group->digits = {tp, 1};
  plan.rank_groups.push_back(std::move(group));
  auto add = [&](const char *name, std::vector<uint64_t> shape, uint64_t offset, uint64_t elements) {
    auto parameter = std::make_unique<plan::ParameterT>();
    parameter->name = name, parameter->shape = std::move(shape);
    parameter->offset = offset, parameter->elements = elements;
    plan.parameters.push_back(std::move(parameter));
  };
  add("b", {biasElements}, 32, biasElements); // not in the order of the bucket
  add("w", {rows, columns}, 0, rows * columns / tp);
  plan.parameters[1]->layout = std::make_unique<plan::LayoutT>();
  plan.parameters[1]->layout->dim = 1, plan.parameters[1]->layout->outer = 1;
  auto bucket = std::make_unique<plan::BucketT>();
  bucket->elements = 64, bucket->shard_elements = 64 / dp;
  bucket->updates = dp > 1 ? plan::Extent::Shard : plan::Extent::Whole;
  plan.buckets.push_back(std::move(bucket));
  return plan;
}

/// By their definition.
std::vector<uint32_t> bitsOf(const char *name, uint64_t count) {
  std::vector<uint32_t> bits;
  uint64_t hash = hashName(name);
  for (uint64_t i = 0; i < count; ++i)
    bits.push_back(
        philox({(uint32_t)(i / 4), 0, (uint32_t)hash, (uint32_t)(hash >> 32)}, keyOfStep(seed, step))[i % 4]);
  return bits;
}

TEST(RandomBits, BelongToElementsOfParametersOnEveryLayout) {
  std::vector<uint32_t> w = bitsOf("w", rows * columns), b = bitsOf("b", biasElements);
  for (uint32_t dp : {1, 2, 4})
    for (uint32_t tp : {1, 2, 5}) {
      Plan plan = makePlan(dp, tp);
      for (uint32_t rank = 0; rank < dp * tp; ++rank) {
        RandomBits bits(plan, 0, (int)rank);
        bits.beginStep(seed, step);
        uint64_t first = 64 / dp * (rank / tp), width = columns / tp, left = rank % tp * width;
        for (uint64_t some : {64 / dp, (uint32_t)7}) // at once, and by pieces
          for (uint64_t begin = 0; begin < 64 / dp; begin += some) {
            std::vector<uint32_t> drawn(std::min(some, 64 / dp - begin), 1);
            drawBits(bits, begin, drawn.size(), drawn.data());
            for (uint64_t i = 0; i < drawn.size(); ++i) {
              uint64_t at = first + begin + i;
              uint32_t expected = at < rows * width                    ? w[at / width * columns + left + at % width]
                                  : at >= 32 && at < 32 + biasElements ? b[at - 32]
                                                                       : 0;
              ASSERT_EQ(drawn[i], expected) << "dp " << dp << " tp " << tp << " rank " << rank << " element " << at;
            }
          }
      }
    }
}

/// A counter has 64 bits, of which a large parameter needs more than the lower half; and a block of any length.
TEST(RandomBits, AreThoseOfTheirCounters) {
  Plan plan = makePlan(1, 1);
  constexpr uint64_t many = 1ull << 35;
  plan.parameters[1]->shape = {1, many}, plan.parameters[1]->elements = many;
  plan.parameters[0]->offset = many + 8, plan.buckets[0]->elements = many + 64;
  RandomBits bits(plan, 0, 0);
  bits.beginStep(seed, step);
  uint64_t hash = hashName("w");
  for (uint64_t begin : {(many >> 1) - 100, (many >> 1) - 37, many - 150})
    for (uint64_t count : {1, 3, 64, 65, 200}) {
      std::vector<uint32_t> drawn(count, 1);
      drawBits(bits, begin, count, drawn.data());
      for (uint64_t k = 0; k < count && begin + k < many; ++k) {
        uint64_t counter = (begin + k) / 4;
        auto words = philox({(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)hash, (uint32_t)(hash >> 32)},
                            keyOfStep(seed, step));
        ASSERT_EQ(drawn[k], words[(begin + k) % 4]) << begin << " + " << k;
      }
    }
}

} // namespace
