// See Parameters.h. The padding of a bucket, and the tail of a short piece, is zero.
#include "Parameters.h"

#include "ParameterFolder.h"
#include "Plan/Philox.h"
#include "State/States.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

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
  plan::Element element = storedElement(plan, parameter.bucket);
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

/// Copies elements [begin, begin + count) of a parameter, or of its average, from the ranks that hold them: of the
/// first stage that does, the first rank with each piece and each shard.
void gatherElements(const Plan &plan, const plan::ParameterT &parameter, Saved which, const ReadArena &read,
                    uint64_t begin, uint64_t count, char *to) {
  auto find = which == Saved::Average ? findAverage : findMoved;
  int first = findFirstHolder(plan, parameter.bucket);
  std::vector<int> owners{first};
  if (parameter.layout)
    owners = membersOf(*plan.rank_groups[parameter.layout->group], plan, first);
  bool isSharded = find(plan, first, parameter.bucket)->row->extent == plan::Extent::Shard;
  plan::Element stored = storedElement(plan, parameter.bucket);
  PieceShape shape = shapeOf(plan, parameter);
  std::map<int, HeldState> known; // by rank: found once, not for each run
  for (uint64_t at = begin, end = begin + count; at < end;) {
    PieceShape::Found found = shape.find(at);
    uint64_t inBucket = parameter.offset + found.inPiece;
    int rank = owners[found.index];
    if (isSharded)
      rank += (int)(inBucket / plan.buckets[parameter.bucket]->shard_elements * plan.mesh->tp());
    auto [it, isNew] = known.try_emplace(rank);
    if (isNew)
      it->second = *find(plan, rank, parameter.bucket);
    const HeldState &held = it->second;
    uint64_t some = std::min({end - at, found.count, held.end - inBucket});
    uint64_t from = held.offsetOf(inBucket), bytes = some * bytesOf(held.row->element);
    if (held.row->element == stored) {
      read(rank, from, bytes, to);
    } else {
      std::vector<char> narrow(bytes);
      read(rank, from, bytes, narrow.data());
      std::ranges::copy(convert(held.row->element, narrow.data(), some, stored), to);
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
  if (std::filesystem::is_directory(initPath)) {
    values.file = std::make_unique<ParameterFolder>(plan, initPath);
    return values;
  }
  values.file =
      std::make_unique<ParameterFile>(plan, values.allFromFile ? initPath : besidePath,
                                      values.allFromFile ? ParameterFile::Kind::OfUser : ParameterFile::Kind::Beside);
  return values;
}

void writeRun(const HeldState &held, uint64_t at, RankMemory memory, plan::Element from,
              const std::function<void(const Take &take)> &give) {
  char *to = memory.arena + held.offsetOf(at);
  give([&](const void *bytes, uint64_t some) {
    if (held.row->element == from) {
      memory.device->write(to, bytes, some);
      to += some;
      return;
    }
    std::vector<char> converted = convert(from, bytes, some / bytesOf(from), held.row->element);
    memory.device->write(to, converted.data(), converted.size());
    to += converted.size();
  });
}

std::vector<std::vector<size_t>> membersOfBuckets(const Plan &plan) {
  std::vector<std::vector<size_t>> members(plan.buckets.size());
  for (size_t i = 0; i < plan.parameters.size(); ++i)
    members[plan.parameters[i]->bucket].push_back(i);
  return members;
}

void initializeStates(const Plan &plan, const InitialValues &values, int rank, RankMemory memory) {
  std::vector<std::vector<size_t>> members = membersOfBuckets(plan);
  forEachState(plan, rank, [&](const HeldState &held) {
    memory.device->fill(memory.arena + held.offset, 0, held.getBytes());
    if (held.row->begins == plan::Beginning::Parameters)
      for (size_t i : members[*held.row->bucket]) {
        const plan::ParameterT &parameter = *plan.parameters[i];
        plan::Element from = storedElement(plan, parameter.bucket);
        memberOf(plan, parameter, rank)
            .forEachRun(held.begin, held.end, [&](uint64_t at, uint64_t inWhole, uint64_t count) {
              writeRun(held, at, memory, from,
                       [&](const Take &take) { giveRun(plan, i, values, inWhole, count, take); });
            });
      }
  });
}

void putInitial(const Plan &plan, size_t index, const InitialValues &values, uint64_t begin, uint64_t count, char *to) {
  std::fill_n(to, count * bytesOf(storedElement(plan, plan.parameters[index]->bucket)), 0);
  giveRun(plan, index, values, begin, count, [&](const void *bytes, uint64_t some) {
    std::copy_n((const char *)bytes, some, to);
    to += some;
  });
}

void saveParameters(const Plan &plan, Saved which, const InitialValues &values, const ReadArena &read,
                    const std::string &path) {
  std::vector<TensorToStore> tensors;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (which == Saved::Trained && !isTrained(plan, *plan.parameters[i]))
      continue;
    TensorToStore tensor{formOf(plan, *plan.parameters[i]),
                         [&plan, &values, &read, which, i](uint64_t begin, uint64_t count, void *to) {
                           const plan::ParameterT &parameter = *plan.parameters[i];
                           if (isHeldRounded(plan, parameter))
                             putInitial(plan, i, values, begin, count, (char *)to);
                           else
                             gatherElements(plan, parameter, which, read, begin, count, (char *)to);
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
