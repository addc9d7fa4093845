// See Parameters.h. What pads a bucket, and the tail of a piece that is short, is zero.
#include "Parameters.h"

#include "Plan/Philox.h"
#include "Plan/Pieces.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr uint64_t blockElements = 1 << 15; // made on the host before they are written

/// Gives elements [begin, begin + count) of parameter `index`, as files hold them.
void giveRun(const Plan &plan, size_t index, const InitialValues &values, uint64_t begin, uint64_t count,
             const Take &take) {
  const plan::ParameterT &parameter = *plan.parameters[index];
  if (values.allFromFile || parameter.init == plan::Init::File)
    return values.file->read(index, begin, count, take);
  if (parameter.init == plan::Init::Zeros)
    return; // the bucket was cleared
  plan::Element element = storedElement(*plan.buckets[parameter.bucket]);
  std::vector<char> block(std::min(count, blockElements) * bytesOf(element));
  for (uint64_t end = begin + count; begin < end;) {
    uint64_t some = std::min(blockElements, end - begin);
    if (parameter.init == plan::Init::Normal)
      fillNormal(values.seed, parameter.name, parameter.std, begin, some, element, block.data());
    else
      for (uint64_t i = 0; i < some; ++i)
        putNumber(element, 1, block.data(), i);
    take(block.data(), some * bytesOf(element));
    begin += some;
  }
}

/// Copies elements [begin, begin + count) of a parameter from the ranks that hold them: of the first stage that does,
/// the first rank with each piece and each shard.
void gatherElements(const Plan &plan, const plan::ParameterT &parameter, const ReadArena &read, uint64_t begin,
                    uint64_t count, char *to) {
  const plan::BucketT &bucket = *plan.buckets[parameter.bucket];
  uint32_t first = 0;
  while (!findBucket(plan, parameter.bucket, (int)first))
    first += stageRanks(plan);
  std::vector<int> owners{(int)first};
  if (parameter.layout)
    owners = membersOf(*plan.rank_groups[parameter.layout->group], plan, (int)first);
  bool hasMaster = findBucket(plan, parameter.bucket, (int)first)->master != nullptr;
  plan::Element stored = storedElement(bucket);
  PieceShape shape(plan, parameter);
  for (uint64_t at = begin, end = begin + count; at < end;) {
    PieceShape::Found found = shape.find(at);
    uint64_t inBucket = parameter.offset + found.inPiece;
    int rank = owners[found.index];
    if ((hasMaster ? bucket.states_extent : bucket.params) == plan::Extent::Shard)
      rank += (int)(inBucket / bucket.shard_elements * plan.mesh->tp());
    const plan::BucketPlaceT &home = *findBucket(plan, parameter.bucket, rank);
    HeldPiece held = (hasMaster ? findMaster : findHeld)(plan, home, rank);
    uint64_t some = std::min({end - at, found.count, held.end - inBucket});
    uint64_t from = held.offsetOf(inBucket), bytes = some * bytesOf(held.element);
    if (held.element == stored) {
      read(rank, from, bytes, to);
    } else {
      std::vector<char> narrow(bytes);
      read(rank, from, bytes, narrow.data());
      std::ranges::copy(convert(held.element, narrow.data(), some, stored), to);
    }
    to += some * bytesOf(stored), at += some;
  }
}

} // namespace

InitialValues openInitialValues(const Plan &plan, const std::string &initPath, const std::string &besidePath,
                                uint64_t seed) {
  InitialValues values;
  values.seed = seed;
  values.allFromFile = !initPath.empty();
  bool needsFile = std::any_of(plan.parameters.begin(), plan.parameters.end(),
                               [](const auto &p) { return p->init == plan::Init::File; });
  if (!values.allFromFile && !needsFile)
    return values;
  values.file =
      std::make_unique<ParameterFile>(plan, values.allFromFile ? initPath : besidePath,
                                      values.allFromFile ? ParameterFile::Kind::OfUser : ParameterFile::Kind::Beside);
  return values;
}

/// The parameters of a bucket that a rank has, and their master where there is one.
static std::vector<HeldPiece> findAllHeld(const Plan &plan, const plan::BucketPlaceT &home, int rank) {
  std::vector<HeldPiece> all{findHeld(plan, home, rank)};
  if (home.master)
    all.push_back(findMaster(plan, home, rank));
  return all;
}

/// Writes a parameter's initial values to what a rank holds of its bucket.
static void initializeParameter(const Plan &plan, size_t index, const InitialValues &values, int rank,
                                const HeldPiece &held, RankMemory memory) {
  const plan::ParameterT &parameter = *plan.parameters[index];
  plan::Element stored = storedElement(*plan.buckets[parameter.bucket]);
  uint64_t begin = std::max(parameter.offset, held.begin),
           end = std::min(parameter.offset + parameter.elements, held.end);
  if (begin >= end)
    return;
  uint64_t piece = parameter.layout ? indexIn(*plan.rank_groups[parameter.layout->group], plan, rank) : 0;
  PieceShape(plan, parameter)
      .forEachRun(piece, begin - parameter.offset, end - parameter.offset,
                  [&](uint64_t inPiece, uint64_t inWhole, uint64_t count) {
                    char *to = memory.arena + held.offsetOf(parameter.offset + inPiece);
                    giveRun(plan, index, values, inWhole, count, [&](const void *bytes, uint64_t some) {
                      if (held.element == stored) {
                        memory.device->write(to, bytes, some);
                        to += some;
                        return;
                      }
                      std::vector<char> converted = convert(stored, bytes, some / bytesOf(stored), held.element);
                      memory.device->write(to, converted.data(), converted.size());
                      to += converted.size();
                    });
                  });
}

void initializeParameters(const Plan &plan, const InitialValues &values, int rank, RankMemory memory) {
  for (const auto &home : programOf(plan, rank).buckets) {
    const plan::BucketT &bucket = *plan.buckets[home->bucket];
    for (const HeldPiece &held : findAllHeld(plan, *home, rank))
      memory.device->fill(memory.arena + held.offset, 0, (held.end - held.begin) * bytesOf(held.element));
    uint64_t stateElements = bucket.states_extent == plan::Extent::Whole ? bucket.elements : bucket.shard_elements;
    for (const plan::Place &state : home->states)
      memory.device->fill(memory.arena + offsetOf(state, rank, *plan.mesh), 0, stateElements * bytesOf(bucket.state));
  }
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const auto &parameter = plan.parameters[i];
    const plan::BucketPlaceT *home = findBucket(plan, parameter->bucket, rank);
    if (!home)
      continue;
    for (const HeldPiece &held : findAllHeld(plan, *home, rank))
      initializeParameter(plan, i, values, rank, held, memory);
  }
}

/// Whether ranks hold nothing but a rounded copy, which no step has moved.
static bool isHeldRounded(const Plan &plan, const plan::ParameterT &parameter) {
  return parameter.frozen && isNarrow(plan.buckets[parameter.bucket]->element);
}

/// Puts elements that a parameter begins with.
static void putInitial(const Plan &plan, size_t index, const InitialValues &values, uint64_t begin, uint64_t count,
                       char *to) {
  std::fill_n(to, count * bytesOf(storedElement(*plan.buckets[plan.parameters[index]->bucket])), 0);
  giveRun(plan, index, values, begin, count, [&](const void *bytes, uint64_t some) {
    std::copy_n((const char *)bytes, some, to);
    to += some;
  });
}

void saveParameters(const Plan &plan, const InitialValues &values, const ReadArena &read, const std::string &path) {
  std::vector<TensorToStore> tensors;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    TensorToStore tensor{formOf(plan, *plan.parameters[i]),
                         [&plan, &values, &read, i](uint64_t begin, uint64_t count, void *to) {
                           const plan::ParameterT &parameter = *plan.parameters[i];
                           if (isHeldRounded(plan, parameter))
                             putInitial(plan, i, values, begin, count, (char *)to);
                           else
                             gatherElements(plan, parameter, read, begin, count, (char *)to);
                         }};
    tensors.push_back(tensor);
    for (const std::string &tie : plan.parameters[i]->ties) { // as in PyTorch's state dict
      tensor.form.name = tie;
      tensors.push_back(tensor);
    }
  }
  writeSafetensors(path, tensors);
}

} // namespace xlc::runtime
