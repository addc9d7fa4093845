// Chooses the chunks of the loss. Smaller chunks need more additions to the gradients of the head's parameters, so the
// largest that fit are taken. Nothing is estimated: each is planned, with choices for the other options that the spec
// leaves open.
#include "xlc/Search/ChooseZero.h"
#include "xlc/Search/ChunkChoice.h"
#include <future>

using namespace xlc;

/// Whether even this, the least of all, takes more than there is.
static bool isHopeless(const Spec &spec, const Planner &planner) {
  std::string obstacle;
  std::unique_ptr<Trial> trial = planner(listAnswers(spec).front().first, obstacle);
  return trial && Search::isHopeless(*trial, *spec.deviceMemory);
}

ChunkChoice xlc::chooseChunk(const Spec &spec, int64_t rows, const Planners &planners) {
  ChunkChoice choice{.rows = 0, .all = rows, .whole = {}};
  if (spec.loss.chunk || !spec.deviceMemory || rows == 0) {
    choice.rows = spec.loss.chunk.value_or(0) < rows ? spec.loss.chunk.value_or(0) : 0;
    return choice;
  }
  Search search(planners.make(), *spec.deviceMemory, /*isAllExact=*/false, [](size_t, const std::string &) {});
  constexpr int64_t mostParts = 64;
  auto cutInto = [&](int64_t parts) {
    Spec cut = spec;
    cut.loss.chunk = parts == 1 ? 0 : (rows + parts - 1) / parts;
    return cut;
  };
  // The most parts are planned beside the whole: whoever waits for a plan that does not fit waits for one of them.
  auto beside = planners.count > 1 ? std::launch::async : std::launch::deferred;
  std::future<bool> hopeless = std::async(beside, [&] { return isHopeless(cutInto(mostParts), planners.make()); });
  for (int64_t parts : {int64_t(1), int64_t(4), int64_t(16), mostParts}) {
    if (choice.whole && parts == 4 && hopeless.get())
      break;
    Spec cut = cutInto(parts);
    search.add(size_t(parts), cut);
    for (const Candidate &candidate : search.getCandidates())
      if (search.fits(candidate)) {
        choice.rows = *cut.loss.chunk;
        return choice;
      } else if (parts == 1 && candidate.need) {
        choice.whole = std::min(choice.whole.value_or(candidate.need->bytes), candidate.need->bytes);
      }
  }
  return choice;
}
