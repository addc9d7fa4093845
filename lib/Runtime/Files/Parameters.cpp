// See Parameters.h. What pads a bucket, and the tail of a piece that is short, is zero.
#include "Parameters.h"

#include "Philox.h"
#include "Plan/Pieces.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr uint64_t blockElements = 1 << 15; // made on the host before they are written

/// Gives elements [begin, begin + count) of parameter `index`.
void giveRun(const Plan &plan, size_t index, const InitialValues &values, uint64_t begin, uint64_t count,
             const Take &take) {
  const plan::ParameterT &parameter = *plan.parameters[index];
  if (values.allFromFile || parameter.init == plan::Init::File)
    return values.file->read(index, begin, count, take);
  if (parameter.init == plan::Init::Zeros)
    return; // the bucket was cleared
  plan::Element element = elementOf(*plan.buckets[parameter.bucket]);
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
void gatherElements(const Plan &plan, const plan::ParameterT &parameter, const std::vector<RankMemory> &ranks,
                    uint64_t begin, uint64_t count, char *to) {
  const plan::BucketT &bucket = *plan.buckets[parameter.bucket];
  uint32_t first = 0;
  while (!findBucket(plan, parameter.bucket, (int)first))
    first += stageRanks(plan);
  std::vector<int> owners{(int)first};
  if (parameter.layout)
    owners = membersOf(*plan.rank_groups[parameter.layout->group], plan, (int)first);
  PieceShape shape(plan, parameter);
  for (uint64_t at = begin, end = begin + count; at < end;) {
    PieceShape::Found found = shape.find(at);
    uint64_t inBucket = parameter.offset + found.inPiece;
    int rank = owners[found.index];
    if (bucket.params == plan::Extent::Shard)
      rank += (int)(inBucket / bucket.shard_elements * plan.mesh->tp());
    HeldPiece held = findHeld(plan, *findBucket(plan, parameter.bucket, rank), rank, ranks[rank].arena);
    uint64_t some = std::min({end - at, found.count, held.end - inBucket}), bytes = some * bytesOf(held.element);
    ranks[rank].device->read(to, held.addressOf(inBucket), bytes);
    to += bytes, at += some;
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

void initializeParameters(const Plan &plan, const InitialValues &values, int rank, RankMemory memory) {
  for (const auto &home : programOf(plan, rank).buckets) {
    const plan::BucketT &bucket = *plan.buckets[home->bucket];
    HeldPiece held = findHeld(plan, *home, rank, memory.arena);
    memory.device->fill(held.memory, 0, (held.end - held.begin) * bytesOf(held.element));
    uint64_t stateElements = bucket.states_extent == plan::Extent::Whole ? bucket.elements : bucket.shard_elements;
    for (const plan::Place &state : home->states)
      memory.device->fill(memory.arena + offsetOf(state, rank, *plan.mesh), 0, stateElements * bytesOf(held.element));
  }
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const auto &parameter = plan.parameters[i];
    const plan::BucketPlaceT *home = findBucket(plan, parameter->bucket, rank);
    if (!home)
      continue;
    HeldPiece held = findHeld(plan, *home, rank, memory.arena);
    uint64_t begin = std::max(parameter->offset, held.begin),
             end = std::min(parameter->offset + parameter->elements, held.end);
    if (begin >= end)
      continue;
    uint64_t index = parameter->layout ? indexIn(*plan.rank_groups[parameter->layout->group], plan, rank) : 0;
    PieceShape(plan, *parameter)
        .forEachRun(index, begin - parameter->offset, end - parameter->offset,
                    [&](uint64_t inPiece, uint64_t inWhole, uint64_t count) {
                      char *to = held.addressOf(parameter->offset + inPiece);
                      giveRun(plan, i, values, inWhole, count, [&](const void *bytes, uint64_t some) {
                        memory.device->write(to, bytes, some);
                        to += some;
                      });
                    });
  }
}

void saveParameters(const Plan &plan, const std::vector<RankMemory> &ranks, const std::string &path) {
  std::vector<TensorToStore> tensors;
  tensors.reserve(plan.parameters.size());
  for (const auto &parameter : plan.parameters)
    tensors.push_back({formOf(plan, *parameter),
                       [&plan, &ranks, parameter = parameter.get()](uint64_t begin, uint64_t count, void *to) {
                         gatherElements(plan, *parameter, ranks, begin, count, (char *)to);
                       }});
  writeSafetensors(path, tensors);
}

} // namespace xlc::runtime
