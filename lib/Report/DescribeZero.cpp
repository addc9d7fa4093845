// See DescribeZero.h. A reason compares the chosen value with the alternative for the same key.
#include "DescribeZero.h"
#include "xlc/Support/Bytes.h"

using namespace mlir;
using namespace xlc;
using Origin = ZeroChoice::Origin;

namespace {

/// `other` differs from the chosen answers in one, which is called `name`.
std::string compare(const ZeroTrial *chosen, const ZeroTrial *other, StringRef name, int64_t memory) {
  if (!chosen || !chosen->total || !other)
    return ("auto: '" + name + "' cannot be planned").str();
  std::string limit = formatBytes(memory);
  if (*chosen->total > memory)
    return "auto: no choice fits in " + limit + "; this choice needs the least";
  if (other->traffic == chosen->traffic)
    return ("auto: '" + name + "' would move the same number of bytes").str();
  if (other->traffic > chosen->traffic)
    return ("auto: fits in " + limit + "; '" + name + "' would move ").str() +
           formatBytes(other->traffic - chosen->traffic) + " more";
  return ("auto: '" + name + "' needs ").str() + formatBytes(other->total.value_or(0)) + " of " + limit +
         ", and would move " + formatBytes(chosen->traffic - other->traffic) + " less";
}

std::string explain(const PlanReport &report, Origin origin, bool ZeroTrial::*question) {
  const ZeroChoice &choice = report.zero;
  if (origin == Origin::Given)
    return "given";
  if (origin == Origin::Default)
    return "auto: saves memory, since cluster.device_memory is not set";
  ZeroTrial other{choice.reducesPerStep, choice.keepsGathered, 0, {}};
  const ZeroTrial *chosen = choice.find(other.reducesPerStep, other.keepsGathered);
  other.*question = !(other.*question);
  bool isReduce = question == &ZeroTrial::reducesPerStep;
  StringRef name = isReduce ? nameReduce(other.reducesPerStep) : nameReshard(other.keepsGathered);
  return compare(chosen, choice.find(other.reducesPerStep, other.keepsGathered), name, *report.spec.deviceMemory);
}

} // namespace

StringRef xlc::nameReduce(bool perStep) { return perStep ? "step" : "micro_batch"; }
StringRef xlc::nameReshard(bool keepsGathered) { return keepsGathered ? "false" : "true"; }

std::vector<ZeroAnswer> xlc::describeZero(const PlanReport &report) {
  const ZeroChoice &choice = report.zero;
  std::vector<ZeroAnswer> answers;
  if (choice.reduce != Origin::Moot)
    answers.push_back({"reduce", nameReduce(choice.reducesPerStep),
                       choice.reducesPerStep ? "gradients are whole until the end of the step, as with zero_stage 1"
                                             : "gradients are reduced per micro-batch; the shard is kept",
                       explain(report, choice.reduce, &ZeroTrial::reducesPerStep)});
  if (choice.gather != Origin::Moot)
    answers.push_back({"reshard_after_forward", nameReshard(choice.keepsGathered),
                       choice.keepsGathered ? "parameters are gathered once per step and kept"
                                            : "parameters are gathered for each use and released",
                       explain(report, choice.gather, &ZeroTrial::keepsGathered)});
  return answers;
}
