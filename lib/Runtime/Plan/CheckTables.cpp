// Checks the mesh, the groups of ranks, and the tables of parameters and states.
#include "PlanCheckers.h"
#include "xlc/Runtime/CpuLevel.h"
#include "xlc/Runtime/Limits.h"
#include "xlc/Runtime/Metrics.h"
#include "xlc/Runtime/States.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace xlc::runtime {

void TableChecker::checkSizes() {
  constexpr auto mostRanks = (uint64_t)kMostRanks;
  if (!plan.mesh)
    return require(false, "the mesh is missing");
  uint64_t pp = plan.mesh->pp(), dp = plan.mesh->dp(), tp = plan.mesh->tp(), shards = plan.mesh->shards();
  require(std::min({pp, dp, tp}) >= 1 && std::max({pp, dp, tp}) <= mostRanks && pp * dp * tp <= mostRanks,
          "invalid mesh: pp {}, dp {}, tp {}; the product must be 1 to {} ranks", pp, dp, tp, mostRanks);
  require(shards >= 1 && dp % std::max<uint64_t>(shards, 1) == 0, "{} shards do not divide dp = {}", shards, dp);
  require(plan.micro >= 1 && plan.micro_batches >= 1, "invalid batch: {} micro-batches of {} samples",
          plan.micro_batches, plan.micro);
  require(plan.cpu <= (uint8_t)CpuLevel::V4Bf16, "unknown processor level");
  require(plan.threads >= 1 && plan.threads <= kMostThreads, "invalid number of threads: {}", plan.threads);
  require(plan.gpu.empty() || !plan.overlap,
          "the plan is for GPUs, but runs its streams in threads, which only CPUs support");
  require(plan.alignment >= 1 && plan.alignment <= 1 << 20 && (plan.alignment & (plan.alignment - 1)) == 0,
          "invalid alignment: {}", plan.alignment);
  require(plan.product_seconds >= 0 && std::isfinite(plan.product_seconds), "invalid time of products: {} s",
          plan.product_seconds);
  require(!plan.traffic.empty(), "the table of traffic is empty");
  for (const auto &traffic : plan.traffic)
    require(traffic->axis <= plan::Axis::MAX, "traffic has an unknown axis");
  for (const auto &each : plan.programs)
    require(each->arena >= 1 && each->arena <= (uint64_t)1 << 46, "invalid size of an arena: {} bytes", each->arena);
}

/// One program for each stage, of each purpose that there is. All plans train.
void TableChecker::checkStages() {
  uint32_t pp = plan.mesh->pp();
  for (plan::Purpose purpose : plan::EnumValuesPurpose()) {
    std::vector<uint64_t> ofStage(pp);
    uint64_t count = 0;
    for (const auto &each : plan.programs)
      if (each->purpose == purpose) {
        ++count;
        if (each->stage < pp)
          ++ofStage[each->stage];
      }
    bool isThere = count > 0 || purpose == plan::Purpose::train;
    require(!isThere || (count == pp && std::ranges::count(ofStage, 1u) == pp),
            "there are {} programs for {} stages, but each stage must have exactly one", count, pp);
  }
  for (const auto &each : plan.programs)
    require(each->purpose <= plan::Purpose::MAX, "a program has an unknown purpose");
}

void TableChecker::checkMesh() {
  require(plan.rank_groups.size() <= 1024, "there are {} groups of ranks, but at most 1024 are allowed",
          plan.rank_groups.size());
  for (size_t i = 0; i < plan.rank_groups.size() && problems.empty(); ++i)
    checkGroup(*plan.rank_groups[i], i);
}

/// The groups of all ranks that take part must cut these into sets, in which each rank has its own index.
void TableChecker::checkGroup(const plan::RankGroupT &group, size_t number) {
  bool isOrdered = std::is_sorted(group.stages.begin(), group.stages.end(), std::less_equal<>());
  Quantity size = std::max<Quantity>(1, group.stages.size());
  bool isSmall = group.digits.size() % 2 == 0 && group.digits.size() <= 8 && group.axis <= plan::Axis::MAX;
  for (size_t i = 0; isSmall && i < group.digits.size(); i += 2) {
    size *= group.digits[i];
    isSmall = group.digits[i] >= 1 && group.digits[i + 1] >= 1 &&
              (uint64_t)group.digits[i] * group.digits[i + 1] <= stageRanks(plan) && size <= rankCount(plan);
  }
  if (!isSmall || !isOrdered || (!group.stages.empty() && group.stages.back() >= plan.mesh->pp()))
    return require(false, "group {} is not a valid group of the {} ranks", number, rankCount(plan));
  std::vector<bool> isMember(rankCount(plan));
  bool isPartition = true;
  for (int rank = 0; rank < (int)rankCount(plan); ++rank) {
    if (isMember[rank] || !takesPart(group, (uint32_t)rank / stageRanks(plan)))
      continue;
    std::vector<int> members = membersOf(group, plan, rank);
    for (size_t i = 0; i < members.size() && isPartition; ++i) {
      isPartition = members[i] >= 0 && (uint32_t)members[i] < rankCount(plan) && !isMember[members[i]] &&
                    indexIn(group, plan, members[i]) == i;
      if (isPartition)
        isMember[members[i]] = true;
    }
  }
  require(isPartition, "group {} contains a rank twice", number);
}

void TableChecker::checkStorage() {
  if (const auto &scale = plan.loss_scale)
    require(scale->initial > 0 && scale->min > 0 && scale->initial >= scale->min &&
                std::isfinite((float)scale->initial) && (float)scale->min > 0 && scale->window > 0 &&
                scale->hysteresis > 0,
            "invalid loss scale: initial {}, minimum {}, window {}, hysteresis {}", scale->initial, scale->min,
            scale->window, scale->hysteresis);
  for (const auto &bucket : plan.buckets)
    require((Quantity)bucket->shard_elements * plan.mesh->shards() >= (Quantity)bucket->elements,
            "bucket '{}' is larger than the sum of its shards", bucket->name);
  for (size_t i = 0; i < plan.states.size(); ++i)
    checkState(*plan.states[i], i);
  for (const auto &parameter : plan.parameters)
    checkParameter(*parameter);
  checkOverlaps();
  for (const auto &input : plan.inputs)
    checkInput(*input);
  for (const auto &output : plan.outputs)
    checkOutput(*output);
  for (size_t i = 0; i < plan.views.size(); ++i)
    checkView(*plan.views[i], i);
  checkDataset(plan.dataset.get());
  if (plan.evaluation) {
    checkDataset(plan.validation.get());
    checkEvaluation(*plan.evaluation);
  }
}

void TableChecker::checkInput(const plan::InputT &input) {
  Quantity elements = 1, limit = (int64_t)1 << 46;
  for (uint64_t dim : input.row_shape)
    elements = std::min<Quantity>(elements * dim, limit);
  require(elements < limit, "a row of input '{}' is larger than any arena", input.name);
  require(input.element <= plan::Element::I1, "input '{}' has a type that data files do not support", input.name);
  require(!input.has_limit || input.limit >= 1,
          "input '{}' has ids for a table with {} rows; a table must have at least 1", input.name, input.limit);
  require(isOfData(input) || (input.element == plan::Element::I64 && input.row_shape.empty()),
          "input '{}' holds sample numbers, which must be I64 scalars, but has element type {}", input.name,
          (int)input.element);
}

/// No tensor is larger than an arena may be.
void TableChecker::checkView(const plan::ViewT &view, size_t number) {
  Quantity last = 0;
  bool isGood = view.element <= plan::Element::MAX && view.sizes.size() == view.strides.size();
  for (size_t d = 0; isGood && d < view.sizes.size(); ++d) {
    isGood = view.strides[d] >= 0 && view.sizes[d] < kLargestArena;
    last = std::min<Quantity>(last + (Quantity)view.sizes[d] * (Quantity)std::max<int64_t>(view.strides[d], 0),
                              kLargestArena);
  }
  require(isGood && last < kLargestArena, "view {} is not a tensor that fits into an arena", number);
}

/// Its name is that of a file.
void TableChecker::checkOutput(const plan::OutputT &output) {
  Quantity elements = output.lines, limit = (int64_t)1 << 46;
  for (uint64_t dim : output.shape)
    elements = std::min<Quantity>(elements * dim, limit);
  require(elements < limit, "a sample of output '{}' is larger than any arena", output.name);
  require(output.lines >= 1, "output '{}' has 0 lines per sample, but must have at least 1", output.name);
  require(!output.name.empty() && output.name.find('/') == std::string::npos && output.name != "." &&
              output.name != "..",
          "output '{}' has a name that is not a valid file name", output.name);
  require(output.element <= plan::Element::MAX && output.element != plan::Element::BF16,
          "output '{}' has a type that data files do not support", output.name);
}

/// All inputs that read the stream have rows of one length.
void TableChecker::checkDataset(const plan::DatasetT *dataset) {
  if (!dataset || dataset->inputs.size() != plan.inputs.size())
    return require(false, "a dataset does not have the {} inputs of the plan", plan.inputs.size());
  const plan::TokenStreamT *stream = dataset->stream.get();
  require(!stream || !stream->files.empty(), "a token stream has no files");
  require(!stream || stream->type <= plan::TokenType::MAX, "a token stream has tokens of an unknown type");
  const plan::InputT *first = nullptr;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const plan::InputT *input = plan.inputs[i].get();
    const plan::InputDataT &data = *dataset->inputs[i];
    require(data.source <= plan::InputSource::MAX, "input '{}' has an unknown source of rows", input->name);
    require(std::isfinite(data.fill), "input '{}' has the fill value {}, which is not finite", input->name, data.fill);
    if (data.source != plan::InputSource::Tokens && data.source != plan::InputSource::NextTokens)
      continue;
    first = first ? first : input;
    require(stream && isInteger(input->element) && input->row_shape.size() == 1 && input->row_shape[0] >= 1 &&
                input->row_shape == first->row_shape,
            "input '{}' does not match its token stream, which has rows of integers of one length", input->name);
  }
}

void TableChecker::checkEvaluation(const plan::EvaluationT &evaluation) {
  bool areKnown =
      std::ranges::all_of(evaluation.metrics, [](const std::string &name) { return findMetric(name).has_value(); });
  require(areKnown && !evaluation.metrics.empty(), "an evaluation has an unknown metric, or no metrics");
  require(evaluation.average.value_or(0) < std::size(kAverages), "an evaluation has an unknown average");
  require(evaluation.min_delta >= 0 && std::isfinite(evaluation.min_delta),
          "an evaluation has the min_delta {}, which must be a finite number of at least 0", evaluation.min_delta);
  bool judges = evaluation.keeps_best || evaluation.patience > 0;
  require(!judges || std::ranges::find(evaluation.metrics, evaluation.judged) != evaluation.metrics.end(),
          "evaluations are compared by '{}', which is not one of their metrics", evaluation.judged);
}

std::optional<Quantity> TableChecker::pieceElements(const plan::ParameterT &parameter) {
  constexpr Quantity limit = kLargestArena;
  Quantity elements = 1;
  const plan::LayoutT *layout = parameter.layout.get();
  if (layout && (layout->dim >= parameter.shape.size() || layout->group >= plan.rank_groups.size() ||
                 !plan.rank_groups[layout->group]->stages.empty() || layout->outer < 1 ||
                 parameter.shape[layout->dim] % layout->outer != 0))
    return std::nullopt;
  for (size_t i = 0; i < parameter.shape.size(); ++i) {
    Quantity size = parameter.shape[i];
    if (layout && i == layout->dim) {
      Quantity parts = groupSize(*plan.rank_groups[layout->group]), run = size / layout->outer;
      size = (run + parts - 1) / parts * layout->outer;
    }
    elements = std::min(elements * size, limit);
  }
  return elements;
}

void TableChecker::checkState(const plan::StateT &state, size_t number) {
  using plan::StateKind;
  if (state.kind > StateKind::MAX || state.begins > plan::Beginning::MAX)
    return require(false, "state {}, '{}', is of an unknown kind", number, state.name);
  bool isIndex = state.kind == StateKind::Index,
       isNumber = state.kind == StateKind::Counter || state.kind == StateKind::Result,
       isTable = state.kind == StateKind::Members, isSite = state.kind == StateKind::Site;
  require(state.site.has_value() == isSite, "state {}, '{}', {}", number, state.name,
          isSite ? "must have a site number" : "must not have a site number");
  require(state.bucket.has_value() == (!isIndex && !isNumber && !isSite) && state.group.has_value() == isIndex &&
              (!state.bucket || *state.bucket < plan.buckets.size()) &&
              (!state.group || *state.group < plan.rank_groups.size()),
          "state {}, '{}', has an invalid bucket ({} of {}) or group ({} of {})", number, state.name,
          state.bucket ? std::to_string(*state.bucket) : "none", plan.buckets.size(),
          state.group ? std::to_string(*state.group) : "none", plan.rank_groups.size());
  require(isIndex || isTable || isSite       ? state.element == plan::Element::I64
          : state.kind == StateKind::Counter ? state.element == scalarElement
          : state.kind == StateKind::Result  ? state.element == scalarElement || state.element == plan::Element::F64 ||
                                                   state.element == plan::Element::I64
                                             : isFloat(state.element),
          "state {}, '{}', has type {}, which its kind does not allow", number, state.name, nameOf(state.element));
  require((state.begins != plan::Beginning::Index || isIndex) &&
              (state.begins == plan::Beginning::Members) == isTable &&
              (state.begins == plan::Beginning::Site) == isSite &&
              (state.begins != plan::Beginning::Parameters || isOfBucket(state)),
          "state {}, '{}', has initial values of kind {}, which its own kind does not allow", number, state.name,
          plan::EnumNameBeginning(state.begins));
  bool isTwice = std::any_of(plan.states.begin(), plan.states.begin() + (ptrdiff_t)number, [&](const auto &other) {
    return other->kind == state.kind && other->name == state.name && other->bucket == state.bucket &&
           other->group == state.group && other->site == state.site;
  });
  require(!isTwice, "state {}, '{}', occurs twice", number, state.name);
}

void TableChecker::checkParameter(const plan::ParameterT &parameter) {
  if (parameter.bucket >= plan.buckets.size())
    return require(false, "parameter '{}' refers to bucket {}, but there are {} buckets", parameter.name,
                   parameter.bucket, plan.buckets.size());
  require((Quantity)parameter.offset + parameter.elements <= (Quantity)plan.buckets[parameter.bucket]->elements,
          "parameter '{}' is not within its bucket", parameter.name);
  std::optional<Quantity> elements = pieceElements(parameter);
  require(elements.has_value(), "parameter '{}' cannot be split as its layout requires", parameter.name);
  require(!elements || *elements == (Quantity)parameter.elements,
          "parameter '{}' has {} elements, which does not match its shape", parameter.name, parameter.elements);
  auto isStored = [&](const auto &each) {
    return std::any_of(each->states.begin(), each->states.end(), [&](const auto &home) {
      return home->state < plan.states.size() && isRead(*plan.states[home->state]) &&
             plan.states[home->state]->bucket == parameter.bucket;
    });
  };
  require(std::any_of(plan.programs.begin(), plan.programs.end(), isStored), "no stage holds parameter '{}'",
          parameter.name);
}

/// Each element of a bucket belongs to one parameter at most.
void TableChecker::checkOverlaps() {
  std::vector<const plan::ParameterT *> sorted;
  sorted.reserve(plan.parameters.size());
  for (const auto &parameter : plan.parameters)
    sorted.push_back(parameter.get());
  std::ranges::sort(sorted, {}, [](const plan::ParameterT *each) { return std::pair(each->bucket, each->offset); });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const plan::ParameterT &before = *sorted[i - 1], &after = *sorted[i];
    require(before.bucket != after.bucket || (Quantity)before.offset + before.elements <= (Quantity)after.offset,
            "parameters '{}' and '{}' overlap in their bucket", before.name, after.name);
  }
}

} // namespace xlc::runtime
