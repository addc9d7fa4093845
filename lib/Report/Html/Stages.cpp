// Which stages a page draws (Sections.h).
#include "../DescribePlan.h"
#include "Sections.h"

using namespace mlir;
using namespace xlc;

namespace {

/// What the device's memory leaves for the arena.
std::optional<int64_t> limitOf(const PlanReport &report) {
  if (!report.spec.deviceMemory)
    return std::nullopt;
  return *report.spec.deviceMemory - sumOf(findFullest(report)->memory.outside);
}

bool isAlike(const GroupReport &a, const GroupReport &b) {
  const MemoryReport &left = a.memory, &right = b.memory;
  auto parts = [](const GroupReport &group) {
    std::array<Quantity, std::tuple_size_v<decltype(Traffic::axes)>> bytes;
    for (auto [sum, axis] : llvm::zip_equal(bytes, group.traffic.axes))
      sum = axis.total();
    return bytes;
  };
  return left.byCause == right.byCause && left.arena == right.arena && left.total() == right.total() &&
         parts(a) == parts(b) && a.cost.total().flops == b.cost.total().flops && a.time.waiting == b.time.waiting;
}

bool isAlike(const StagePicture &a, const StagePicture &b) {
  auto isSame = [](const MemoryColumn &x, const MemoryColumn &y) { return x.byCause == y.byCause && x.part == y.part; };
  return a.moments == b.moments && llvm::equal(a.columns, b.columns, isSame);
}

std::string nameStages(const GroupReport &first, const GroupReport &last, bool hasStages) {
  auto range = [](const char *noun, int64_t from, int64_t until) {
    return std::string(noun) +
           (from == until ? " " + std::to_string(from) : "s " + std::to_string(from) + "-" + std::to_string(until));
  };
  std::string ranks = range("rank", first.ranks.front(), last.ranks.back());
  return hasStages ? range("stage", first.stage, last.stage) + ", " + ranks : ranks;
}

/// Stages that are alike and follow each other are drawn once.
} // namespace

std::vector<DrawnStage> xlc::drawStages(const PlanReport &report, ModuleOp module) {
  std::vector<DrawnStage> drawn;
  std::optional<int64_t> limit = limitOf(report);
  const GroupReport *last = nullptr;
  for (auto [program, group] : llvm::zip_equal(exec::programsOf(module), report.groups)) {
    StagePicture picture = makePicture(program);
    if (!last || !isAlike(*last, group) || !isAlike(drawn.back().picture, picture))
      drawn.push_back({&group, "", limit, std::move(picture)});
    last = &group;
    drawn.back().name = nameStages(*drawn.back().first, group, report.pp > 1);
  }
  return drawn;
}
