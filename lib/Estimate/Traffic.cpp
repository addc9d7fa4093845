// See Traffic.h. The slices of an all_reduce are those of lib/Runtime/Core/Collectives.cpp.
#include "xlc/Estimate/Traffic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xlc;

namespace {

constexpr int64_t sliceGrain = 16; // elements

/// A rank's place in the group of a collective.
struct Member {
  int64_t index, ranks;
};

Member findMember(exec::ProgramOp program, dist::GroupAttr group, int64_t rank) {
  return {group.indexOf(program.getMesh(), rank), group.size()};
}

int64_t bytesOf(Type element, int64_t count) { return graph::getByteSize(RankedTensorType::get({count}, element)); }

/// Elements that the member reads in an all_reduce: its own slice from all others, then the others' slices.
int64_t elementsOfAllReduce(int64_t count, Member member) {
  int64_t each = llvm::alignTo(llvm::divideCeil(count, member.ranks), sliceGrain);
  auto begin = [&](int64_t index) { return std::min(count, index * each); };
  int64_t own = begin(member.index + 1) - begin(member.index);
  return (member.ranks - 1) * own + (count - own);
}

/// How many elements a collective of slices of `count` (or an all_reduce of `count`) reads.
using Elements = llvm::function_ref<int64_t(dist::GroupAttr group, int64_t count)>;
Traffic addUp(exec::ProgramOp program, Elements ofSlices, Elements ofAllReduce) {
  Traffic traffic;
  auto add = [&](auto collective, int64_t &kind, Elements elements) {
    int64_t count = collective.getCount();
    int64_t bytes = bytesOf(collective.getType(), elements(collective.getGroup(), count));
    kind += bytes;
    traffic.smallMessages += count < sliceGrain ? bytes : 0;
  };
  for (Operation &op : program.getBody().front()) {
    if (auto gather = dyn_cast<exec::AllGatherOp>(op))
      add(gather, traffic.allGather, ofSlices);
    else if (auto scatter = dyn_cast<exec::ReduceScatterOp>(op))
      add(scatter, traffic.reduceScatter, ofSlices);
    else if (auto reduce = dyn_cast<exec::AllReduceOp>(op))
      add(reduce, traffic.allReduce, ofAllReduce);
  }
  return traffic;
}

} // namespace

Traffic xlc::trafficOfRank(exec::ProgramOp program, int64_t rank) {
  auto member = [&](dist::GroupAttr group) { return findMember(program, group, rank); };
  return addUp(
      program, [&](dist::GroupAttr group, int64_t count) { return (member(group).ranks - 1) * count; },
      [&](dist::GroupAttr group, int64_t count) { return elementsOfAllReduce(count, member(group)); });
}

Traffic xlc::trafficOfLargest(exec::ProgramOp program) { return trafficOfRank(program, 0); }

Traffic xlc::trafficOfAllRanks(exec::ProgramOp program) {
  int64_t ranks = program.getMesh().getStageRanks();
  auto size = [&](dist::GroupAttr group) { return findMember(program, group, 0).ranks; };
  return addUp(
      program, [&](dist::GroupAttr group, int64_t count) { return ranks * (size(group) - 1) * count; },
      [&](dist::GroupAttr group, int64_t count) { return ranks / size(group) * 2 * (size(group) - 1) * count; });
}
