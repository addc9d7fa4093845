// See DescribePlan.h.
#include "DescribePlan.h"
#include "xlc/Support/Numbers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace xlc;

std::string xlc::describePlan(const PlanReport &report) {
  const Spec &spec = report.spec;
  std::string others = report.pp > 1 ? llvm::formatv(", pp {0}", report.pp).str() : "";
  others += report.tp > 1 ? llvm::formatv(", tp {0}", report.tp).str() : "";
  if (spec.precision.isMixed())
    others += ", " + spec.precision.getName().str();
  return llvm::formatv("dp {0}{1}, zero_stage {2}{3}, batch {4} = {5} x {6} x {7}", spec.dp, others, spec.zeroStage,
                       spec.dpShard ? llvm::formatv(", dp_shard {0}", *spec.dpShard).str() : "",
                       spec.globalBatchOrDefault(), spec.microBatch, formatCount(spec.microBatches(), "micro-batch"),
                       formatCount(spec.dp, "rank"));
}

std::string xlc::nameRanks(ArrayRef<int64_t> ranks) {
  std::string first = std::to_string(ranks.front());
  return ranks.size() == 1 ? "rank " + first : "each of ranks " + first + "-" + std::to_string(ranks.back());
}

const GroupReport *xlc::findFullest(const PlanReport &report) {
  auto isSmaller = [](const GroupReport &a, const GroupReport &b) { return a.memory.total() < b.memory.total(); };
  return &*llvm::max_element(report.groups, isSmaller);
}

std::vector<const GroupReport *> xlc::listShown(const PlanReport &report, bool isVerbose) {
  const GroupReport *fullest = findFullest(report);
  std::vector<const GroupReport *> shown;
  for (const GroupReport &group : report.groups)
    if (isVerbose || report.groups.size() <= kFullStages || &group == &report.groups.front() || &group == fullest ||
        &group == &report.groups.back())
      shown.push_back(&group);
  return shown;
}
