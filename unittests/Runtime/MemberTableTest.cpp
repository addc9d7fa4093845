// The table of a bucket's members, as a kernel reads it: on every layout of ranks, each element that a rank updates is
// the element of the parameter that the layout assigns to it.
#include "Plan/Philox.h"
#include "State/States.h"

#include <gtest/gtest.h>

#include <map>

using namespace xlc::runtime;
namespace plan = xlc::plan;

namespace {

constexpr uint64_t rows = 3, columns = 10, biasElements = 5;

/// w [3, 10], cut along its columns by tp, and b [5], in one bucket, of whose states dp ranks have shards.
Plan makeMeshPlan(uint32_t dp, uint32_t tp) {
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
  plan.buckets.push_back(std::move(bucket));
  auto state = std::make_unique<plan::StateT>();
  state->kind = plan::StateKind::Members, state->begins = plan::Beginning::Members;
  state->bucket = 0, state->element = plan::Element::I64;
  state->extent = dp > 1 ? plan::Extent::Shard : plan::Extent::Whole;
  plan.states.push_back(std::move(state));
  auto home = std::make_unique<plan::StatePlaceT>();
  home->state = 0, home->place = std::make_unique<plan::Place>(1024, 0, 0);
  auto program = std::make_unique<plan::ProgramT>();
  program->states.push_back(std::move(home));
  plan.programs.push_back(std::move(program));
  return plan;
}

std::vector<int64_t> tableOf(const Plan &plan, int rank) {
  std::vector<int64_t> table;
  forEachFirstNumber(plan, *plan.programs[0], rank, [&](uint64_t offset, plan::Element element, int64_t value) {
    EXPECT_EQ(offset, 1024 + 8 * table.size());
    EXPECT_EQ(element, plan::Element::I64);
    table.push_back(value);
  });
  return table;
}

/// The subsequence and the element of a parameter, as States.h defines them.
std::pair<uint64_t, int64_t> find(const std::vector<int64_t> &table, int64_t at) {
  auto count = (int64_t)table.size() / kMemberColumns, member = (int64_t)0;
  auto entry = [&](MemberColumn column) { return table[(int64_t)column * count + member]; };
  for (member = count - 1; entry(MemberColumn::Begin) > at;)
    --member;
  int64_t j = at - entry(MemberColumn::Begin);
  return {(uint64_t)entry(MemberColumn::Subsequence),
          j + j / entry(MemberColumn::Width) * entry(MemberColumn::Skip) + entry(MemberColumn::Base)};
}

TEST(MemberTable, SaysWhichElementOfWhichParameterItIs) {
  for (uint32_t dp : {1, 2, 4})
    for (uint32_t tp : {1, 2, 5}) {
      Plan plan = makeMeshPlan(dp, tp);
      for (uint32_t rank = 0; rank < dp * tp; ++rank) {
        std::vector<int64_t> table = tableOf(plan, (int)rank);
        ASSERT_EQ(table.size(), 10u);
        uint64_t first = 64 / dp * (rank / tp), width = columns / tp, left = rank % tp * width;
        std::map<std::pair<uint64_t, int64_t>, int> found;
        for (uint64_t at = first; at < first + 64 / dp; ++at) {
          auto what = find(table, (int64_t)(at - first));
          if (at < rows * width)
            EXPECT_EQ(what, std::pair(hashName("w"), (int64_t)(at / width * columns + left + at % width)));
          else if (at >= 32 && at < 32 + biasElements)
            EXPECT_EQ(what, std::pair(hashName("b"), (int64_t)(at - 32)));
          EXPECT_EQ(++found[what], 1) << "element " << at << " of rank " << rank << " has another's bits";
        }
      }
    }
}

} // namespace
