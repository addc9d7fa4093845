// Proposes changes to a plan that does not fit. Each row of a table makes one change to the spec, the affected phases
// are planned again, and the new plan gives the figures. Changes preserve the training (the global batch) unless their
// row states otherwise.
#include "xlc/Search/Changes.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace xlc;

namespace {

/// Changes the spec and says how, or declines with an empty text.
using Edit = std::string (*)(Spec &);

template <int stage> std::string raiseZeroStage(Spec &spec) {
  if (spec.zeroStage >= stage || spec.dpShardOrAll() == 1)
    return "";
  spec.zeroStage = stage;
  return llvm::formatv("zero_stage: {0}", stage);
}

std::string halveMicroBatch(Spec &spec) {
  if (spec.microBatch % 2 != 0)
    return "";
  spec.globalBatch = spec.globalBatchOrDefault();
  spec.microBatch /= 2;
  return llvm::formatv("batch: {{global: {0}, micro: {1}}", *spec.globalBatch, spec.microBatch);
}

/// Halves the micro-batches where there are several, else the micro-batch, so the global batch stays.
std::string doubleRanks(Spec &spec) {
  int64_t global = spec.globalBatchOrDefault();
  if (spec.microBatches() % 2 != 0 && spec.microBatch % 2 != 0)
    return "";
  if (spec.microBatches() % 2 != 0)
    spec.microBatch /= 2;
  spec.globalBatch = global;
  spec.dp *= 2;
  return llvm::formatv("dp: {0}, batch: {{global: {1}, micro: {2}}", spec.dp, global, spec.microBatch);
}

/// The same samples per rank on twice as many ranks: the global batch doubles.
std::string doubleRanksAndBatch(Spec &spec) {
  if (spec.globalBatch)
    spec.globalBatch = *spec.globalBatch * 2;
  spec.dp *= 2;
  return llvm::formatv("dp: {0}, batch: {{global: {1}, micro: {2}} (a larger batch)", spec.dp,
                       spec.globalBatchOrDefault(), spec.microBatch);
}

std::string shardOverAll(Spec &spec) {
  if (spec.zeroStage == 0 || spec.dpShardOrAll() == spec.dp)
    return "";
  spec.dpShard = spec.dp;
  return llvm::formatv("dp_shard: {0}", spec.dp);
}

std::string reducePerMicroBatch(Spec &spec) {
  if (spec.zeroStage < 2 || spec.zero.reduce != ZeroSpec::Reduce::Step) // auto has tried it
    return "";
  spec.zero.reduce = ZeroSpec::Reduce::MicroBatch;
  return "zero: {reduce: micro_batch}";
}

std::string reshard(Spec &spec) {
  if (spec.zeroStage < 3 || spec.zero.reshardAfterForward.value_or(true))
    return "";
  spec.zero.reshardAfterForward = true;
  return "zero: {reshard_after_forward: true}";
}

/// Twice the ranks, each with half of every matrix, or with half of the layers.
std::string doubleTensorParallel(Spec &spec) {
  spec.tp *= 2;
  return llvm::formatv("tp: {0}", spec.tp);
}
std::string doubleStages(Spec &spec) {
  spec.pp *= 2;
  return llvm::formatv("pp: {0}", spec.pp);
}

/// Fewer micro-batches in flight than any other schedule but those of its kind.
std::string keepFewInFlight(Spec &spec) {
  if (spec.pp == 1 || spec.pipeline.schedule == "1f1b")
    return "";
  spec.pipeline.schedule = "1f1b", spec.pipeline.chunks.reset();
  return "pipeline: {schedule: 1f1b}";
}

constexpr Edit edits[] = {
    raiseZeroStage<1>,   raiseZeroStage<2>,    raiseZeroStage<3>,   reshard,
    shardOverAll,        halveMicroBatch,      reducePerMicroBatch, doubleRanks,
    doubleRanksAndBatch, doubleTensorParallel, doubleStages,        keepFewInFlight,
};

/// Symbolic dimensions halved, one at a time: shorter sequences, smaller images.
std::vector<std::pair<std::string, Spec>> halveDimensions(const Spec &spec) {
  std::vector<std::pair<std::string, Spec>> halved;
  for (const auto &[name, size] : spec.dims) {
    if (size % 2 != 0)
      continue;
    Spec changed = spec;
    changed.dims[name] = size / 2;
    halved.emplace_back(llvm::formatv("dims: {{{0}: {1}} (smaller samples)", name, size / 2), std::move(changed));
  }
  return halved;
}

} // namespace

std::vector<Change> xlc::findChanges(const Spec &spec, int64_t total, const Planners &planners,
                                     llvm::raw_ostream *notes) {
  std::vector<std::string> names;
  std::set<std::pair<size_t, std::string>> obstacles;
  Search search(planners.make(), *spec.deviceMemory, /*isAllExact=*/false,
                [&](size_t number, const std::string &obstacle) { obstacles.emplace(number, obstacle); });
  auto hasFailed = [&](size_t number) {
    auto isOfIt = [&](const Candidate &candidate) { return candidate.group == number; };
    auto doesFit = [&](const Candidate &candidate) { return isOfIt(candidate) && search.fits(candidate); };
    return llvm::any_of(search.getCandidates(), isOfIt) && llvm::none_of(search.getCandidates(), doesFit);
  };
  std::vector<std::pair<size_t, Spec>> changed;
  auto addChange = [&](std::string what, const Spec &to) {
    names.push_back(std::move(what));
    changed.emplace_back(names.size() - 1, to);
  };
  std::optional<size_t> doubled; // the number of twice the ranks
  std::optional<std::pair<size_t, Spec>> larger;
  for (Edit edit : edits) {
    Spec to = spec;
    std::string what = edit(to);
    if (what.empty())
      continue;
    if (edit == doubleRanks)
      doubled = names.size();
    addChange(std::move(what), to);
    if (edit == doubleRanksAndBatch && doubled) { // which has half the samples for each rank
      larger = std::move(changed.back());
      changed.pop_back();
    }
  }
  for (auto &[what, to] : halveDimensions(spec))
    addChange(what, to);
  // What is planned anew from its first phases on takes longest, and begins first: nobody waits for it alone at the end.
  auto isSoon = [&](const auto &each) {
    const Spec &to = each.second;
    return to.tp != spec.tp || to.dims != spec.dims || to.microBatch != spec.microBatch;
  };
  std::partition(changed.begin(), changed.end(), isSoon);
  search.addAll(changed, planners);
  if (larger && !hasFailed(*doubled))
    search.add(larger->first, larger->second);
  if (notes)
    for (auto &[number, obstacle] : obstacles)
      *notes << "note: '" << names[number] << "' cannot be planned: " << obstacle << "\n";

  auto describe = [&](const Candidate &candidate) {
    return Change{names[candidate.group], candidate.need->bytes, candidate.traffic, search.fits(candidate)};
  };
  std::vector<Change> changes;
  for (const Candidate &candidate : search.getCandidates())
    if (search.fits(candidate))
      changes.push_back(describe(candidate));
  if (!changes.empty())
    return changes;
  const Candidate *nearest = search.findNearest();
  if (nearest && nearest->need->bytes < total)
    changes.push_back(describe(*nearest));
  return changes;
}
