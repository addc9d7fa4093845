// See Parameters.h. A bucket lies whole on every rank, or in shards of `shard_elements`: shard s, on the ranks with
// rank % shards == s, holds elements [s * shard_elements, (s + 1) * shard_elements). What pads it is zero.
#include "Parameters.h"

#include "Philox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace xlc::runtime {
namespace {

std::string checkStored(const plan::ParameterT &parameter, const SafetensorsReader &file) {
  auto it = file.tensors().find(parameter.name);
  if (it == file.tensors().end())
    return fmt::format("{}: error: no parameter '{}'", file.path, parameter.name);
  const StoredTensor &stored = it->second;
  if (stored.shape != parameter.shape)
    return fmt::format("{}: error: '{}' has shape [{}], the program needs [{}]", file.path, parameter.name,
                       fmt::join(stored.shape, ", "), fmt::join(parameter.shape, ", "));
  if (stored.dtype != "F32")
    return fmt::format("{}: error: '{}' has type {}, the program needs F32", file.path, parameter.name, stored.dtype);
  return "";
}

/// What a rank holds of a bucket: elements [begin, end), at `memory`.
struct HeldPiece {
  uint64_t begin, end;
  float *memory;
};

HeldPiece findHeld(const Plan &plan, const plan::BucketT &bucket, int rank, char *arena) {
  float *memory = (float *)(arena + offsetOf(*bucket.place, rank, plan.shards));
  if (bucket.params == plan::Extent::Whole)
    return {0, bucket.elements, memory};
  uint64_t begin = bucket.shard_elements * (rank % plan.shards);
  return {begin, begin + bucket.shard_elements, memory};
}

/// Elements [begin, end) of a parameter, to `memory`.
void fillPiece(const plan::ParameterT &parameter, const InitialValues &values, uint64_t begin, uint64_t end,
               float *memory) {
  if (values.allFromFile || parameter.init == plan::Init::File)
    return values.file->read(values.file->tensors().at(parameter.name).begin + begin * 4, (end - begin) * 4, memory);
  switch (parameter.init) {
  case plan::Init::Normal:
    return fillNormal(values.seed, parameter.name, parameter.std, begin, end - begin, memory);
  case plan::Init::Ones:
    std::fill_n(memory, end - begin, 1.0f);
    return;
  case plan::Init::Zeros:
  case plan::Init::File:
    return; // the bucket was cleared; files were read above
  }
}

/// Copies elements [begin, begin + count) of a parameter from the ranks that hold them.
void gatherPiece(const Plan &plan, const plan::ParameterT &parameter, const std::vector<char *> &arenas, uint64_t begin,
                 uint64_t count, float *to) {
  const plan::BucketT &bucket = *plan.buckets[parameter.bucket];
  for (uint64_t at = parameter.offset + begin, end = at + count; at < end;) {
    int rank = bucket.params == plan::Extent::Whole ? 0 : (int)(at / bucket.shard_elements);
    HeldPiece held = findHeld(plan, bucket, rank, arenas[rank]);
    uint64_t some = std::min(end, held.end) - at;
    std::memcpy(to, held.memory + (at - held.begin), some * 4);
    to += some, at += some;
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
  values.file = std::make_unique<SafetensorsReader>(values.allFromFile ? initPath : besidePath);
  std::vector<std::string> problems;
  for (const auto &parameter : plan.parameters)
    if (values.allFromFile || parameter->init == plan::Init::File)
      if (std::string problem = checkStored(*parameter, *values.file); !problem.empty())
        problems.push_back(problem);
  if (!problems.empty())
    throw Rejected(fmt::format("{}", fmt::join(problems, "\n")));
  return values;
}

void initializeParameters(const Plan &plan, const InitialValues &values, int rank, char *arena) {
  for (const auto &bucket : plan.buckets) {
    HeldPiece held = findHeld(plan, *bucket, rank, arena);
    std::memset(held.memory, 0, (held.end - held.begin) * 4);
    uint64_t stateElements = bucket->states_extent == plan::Extent::Whole ? bucket->elements : bucket->shard_elements;
    for (const plan::Place &state : bucket->states)
      std::memset(arena + offsetOf(state, rank, plan.shards), 0, stateElements * 4);
  }
  for (const auto &parameter : plan.parameters) {
    HeldPiece held = findHeld(plan, *plan.buckets[parameter->bucket], rank, arena);
    uint64_t begin = std::max(parameter->offset, held.begin),
             end = std::min(parameter->offset + parameter->elements, held.end);
    if (begin < end)
      fillPiece(*parameter, values, begin - parameter->offset, end - parameter->offset,
                held.memory + (begin - held.begin));
  }
}

void saveParameters(const Plan &plan, const std::vector<char *> &arenas, const std::string &path) {
  std::vector<TensorToStore> tensors;
  for (const auto &parameter : plan.parameters)
    tensors.push_back({parameter->name, parameter->shape,
                       [&plan, &arenas, parameter = parameter.get()](uint64_t begin, uint64_t count, float *to) {
                         gatherPiece(plan, *parameter, arenas, begin, count, to);
                       }});
  writeSafetensors(path, tensors);
}

} // namespace xlc::runtime
