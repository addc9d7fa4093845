// Checks the memory of a stage and its actions.
#include "PlanCheckers.h"
#include "xlc/Runtime/Metrics.h"
#include "xlc/Runtime/States.h"

#include <algorithm>
#include <cctype>

namespace xlc::runtime {

void ProgramChecker::checkPlace(const plan::Place *place, Quantity bytes, const std::string &what, Quantity from) {
  if (!place)
    return require(false, "{} has no place", what);
  for (Quantity shard : {(Quantity)0, (Quantity)plan.mesh->shards() - 1})
    require(isInArena((Quantity)place->offset() + shard * place->stride() + from, bytes),
            "{} is not within the arena of {} bytes", what, program.arena);
  require(place->buffer() < program.buffers.size(), "{} refers to buffer {}, but there are {} buffers", what,
          place->buffer(), program.buffers.size());
}

std::string describeState(const Plan &plan, const plan::StateT &state) {
  std::string bucket = state.bucket && *state.bucket < plan.buckets.size()
                           ? fmt::format("bucket '{}'", plan.buckets[*state.bucket]->name)
                           : "";
  switch (state.kind) {
  case plan::StateKind::Value:
  case plan::StateKind::RunningAverage:
    return bucket;
  case plan::StateKind::Optimizer:
    return fmt::format("state '{}' of {}", state.name, bucket);
  case plan::StateKind::Counter:
    return fmt::format("counter '{}'", state.name);
  case plan::StateKind::Result:
    return fmt::format("the {} of a step", state.name);
  case plan::StateKind::Index:
    return "an index";
  case plan::StateKind::Site:
    return fmt::format("the number of site {}", state.site.value_or(0));
  default: { // "the master of bucket 'bucket_0'"
    std::string kind = plan::EnumNameStateKind(state.kind);
    kind[0] = (char)std::tolower(kind[0]);
    return fmt::format("the {} of {}", kind, bucket);
  }
  }
}

/// That a rank has of it.
static uint64_t countElements(const Plan &plan, const plan::StateT &state) {
  if (state.kind == plan::StateKind::Result)
    return state.elements;
  if (!state.bucket || *state.bucket >= plan.buckets.size())
    return 1;
  if (state.kind == plan::StateKind::Members)
    return (uint64_t)elementsOfMemberTable(std::ranges::count_if(
        plan.parameters, [&](const auto &parameter) { return parameter->bucket == *state.bucket; }));
  return keptElements(*plan.buckets[*state.bucket], state.extent);
}

void ProgramChecker::checkStorage() {
  for (const auto &buffer : program.buffers)
    require(isInArena((Quantity)buffer->offset, (Quantity)buffer->size), "buffer '{}' is not within the arena",
            buffer->name);
  for (const auto &home : program.states) {
    if (home->state >= plan.states.size()) {
      require(false, "stage {} refers to state {}, but there are {} states", stage, home->state, plan.states.size());
      continue;
    }
    const plan::StateT &state = *plan.states[home->state];
    if (state.group)
      checkCollective(*state.group, "an index");
    checkPlace(home->place.get(), (Quantity)bytesOf(state.element) * countElements(plan, state),
               describeState(plan, state));
  }
}

void ProgramChecker::checkActions() {
  for (size_t i = 0; i < program.steps.size(); ++i) {
    checkStep(*program.steps[i]);
    checkStream(*program.steps[i], i);
  }
  auto find = [&](const plan::ProgramT &of, plan::StateKind kind, std::string_view name) {
    bool isKnown = std::ranges::all_of(of.states, [&](const auto &home) { return home->state < plan.states.size(); });
    return isKnown && findNumber(plan, of, kind, name) != nullptr;
  };
  bool hasNorm = find(program, plan::StateKind::Result, kNormResult);
  require(find(program, plan::StateKind::Counter, kAppliedCounter) == hasNorm, "stage {} {}", stage,
          hasNorm ? "has a gradient norm, but not the counter 'applied'"
                  : "has the counter 'applied', but not a gradient norm");
  bool trains = program.purpose == plan::Purpose::train;
  bool isShown = std::any_of(plan.programs.begin(), plan.programs.end(), [&](const auto &each) {
    auto has = [&](std::string_view name) { return find(*each, plan::StateKind::Result, name); };
    return each->purpose == program.purpose &&
           (trains ? has(kLossResult) && has(kNormResult) : has(kLossSumResult) && has(kTargetsResult));
  });
  require(isShown, "no stage has a loss{}", trains ? " and a gradient norm" : " in an evaluation");
}

void ProgramChecker::checkCollective(uint32_t group, const std::string &what) {
  if (group >= plan.rank_groups.size())
    return require(false, "{} refers to group {}, but there are {} groups", what, group, plan.rank_groups.size());
  require(takesPart(*plan.rank_groups[group], stage), "{} has a group that does not include stage {}", what, stage);
}

/// A collective between places.
void ProgramChecker::checkExchange(const plan::ExchangeT &exchange, const std::string &what) {
  checkCollective(exchange.group, what);
  require(hasSum(exchange.element), "{} has elements that cannot be summed", what);
  bool sums =
      exchange.kind == plan::CollectiveKind::all_reduce || exchange.kind == plan::CollectiveKind::reduce_scatter;
  require(!exchange.wire || (sums && exchange.element == plan::Element::F32 && isNarrow(*exchange.wire)),
          "{} sends its elements as a different type; only sums of F32 can be sent as F16 or BF16", what);
  require(exchange.kind <= plan::CollectiveKind::MAX, "{} is not a supported collective", what);
  if (exchange.group >= plan.rank_groups.size() || exchange.kind > plan::CollectiveKind::MAX)
    return;
  auto [src, dst] = bytesOfExchange(plan, exchange);
  checkPlace(exchange.src.get(), src, what);
  checkPlace(exchange.dst.get(), dst, what);
}

void ProgramChecker::checkTransfer(const plan::Place *place, Quantity bytes, uint32_t peer, const std::string &what) {
  checkPlace(place, bytes, what);
  require(peer < plan.mesh->pp() && peer != stage,
          "{} connects stage {} with stage {}, but must connect two different stages, numbered below {}", what, stage,
          peer, plan.mesh->pp());
}

/// Places for all numbers of a group, and for those that the step has once.
void ProgramChecker::checkBegin(const plan::BeginT &begin, const std::string &what) {
  require(begin.places.size() == plan.groups.size(), "{} has places for {} optimizer groups, but the plan has {}", what,
          begin.places.size(), plan.groups.size());
  for (const plan::Place &place : begin.places)
    checkPlace(&place, (Quantity)kGroupNumbers * bytesOf(scalarElement), what);
  uint64_t scales = 0, written = 0;
  for (const plan::NumberPlace &number : begin.numbers) {
    if (number.number() >= std::size(kStepNumbers) || kStepNumbers[number.number()].owner != NumberOf::Step ||
        kStepNumbers[number.number()].writer != WrittenBy::Host || (written >> number.number() & 1)) {
      require(false, "{} writes scalar {}, which is not a scalar of the step or was already written", what,
              number.number());
      continue;
    }
    written |= (uint64_t)1 << number.number();
    const StepNumberRow &row = kStepNumbers[number.number()];
    scales += row.number == StepNumber::LossScale;
    checkPlace(&number.place(), (Quantity)bytesOf(row.type), what);
  }
  require(scales == (plan.loss_scale ? 1 : 0), "{} {}", what,
          plan.loss_scale ? "has no place for the loss scale" : "has a place for a loss scale, but the plan has none");
}

void ProgramChecker::checkStep(const plan::StepT &step) {
  std::string what = fmt::format("action '{}'", step.label);
  const plan::ActionUnion &action = step.action;
  if (const auto *begin = action.AsBegin()) {
    checkBegin(*begin, what);
  } else if (const auto *load = action.AsLoad()) {
    checkLoad(*load, what);
  } else if (const auto *store = action.AsStore()) {
    checkStore(*store, what);
  } else if (const auto *run = action.AsRun()) {
    checkRun(*run, what);
  } else if (const auto *exchange = action.AsExchange()) {
    checkExchange(*exchange, what);
  } else if (const auto *release = action.AsRelease()) {
    checkPlace(release->place.get(), (Quantity)release->bytes, what);
  } else if (const auto *send = action.AsSend()) {
    checkTransfer(send->place.get(), (Quantity)send->bytes, send->peer, what);
  } else if (const auto *receive = action.AsReceive()) {
    checkTransfer(receive->place.get(), (Quantity)receive->bytes, receive->peer, what);
  } else {
    require(false, "{} is of an unknown kind", what);
  }
}

/// A step waits for earlier ones alone. What runs functions is on one stream, on a GPU on two, and what ranks exchange
/// beside it on others.
void ProgramChecker::checkStream(const plan::StepT &step, size_t index) {
  require(step.stream <= plan::Stream::MAX, "action '{}' runs on stream {}, but there are {} streams", step.label,
          (int)step.stream, (int)plan::Stream::MAX + 1);
  const auto *run = step.action.AsRun();
  bool isBeside = run && step.stream == plan::Stream::weights && !plan.gpu.empty();
  require(!run || step.stream == plan::Stream::compute || isBeside,
          "action '{}' runs a function on a stream that is not for computations", step.label);
  if (isBeside && run->function < plan.functions.size())
    for (const auto &call : plan.functions[run->function]->calls)
      require(!call->exchange, "action '{}' runs on the stream of weight gradients, but its call '{}' is a collective",
              step.label, call->name);
  for (uint32_t other : step.after)
    require(other < index, "action '{}' has index {}, but waits for action {}, which is not an earlier one", step.label,
            index, other);
}

void ProgramChecker::checkLoad(const plan::LoadT &load, const std::string &label) {
  require(load.inputs.size() == load.places.size(), "{} has inputs without places", label);
  require(load.micro_batch < plan.micro_batches, "{} loads micro-batch {}, but there are {} micro-batches", label,
          load.micro_batch, plan.micro_batches);
  for (size_t i = 0; i < std::min(load.inputs.size(), load.places.size()); ++i) {
    if (load.inputs[i] >= plan.inputs.size()) {
      require(false, "{} loads input {}, but there are {} inputs", label, load.inputs[i], plan.inputs.size());
      continue;
    }
    const plan::InputT &input = *plan.inputs[load.inputs[i]];
    checkPlace(&load.places[i], (Quantity)rowsOf(plan, input) * rowElements(input) * bytesOf(input.element), label);
  }
}

void ProgramChecker::checkStore(const plan::StoreT &store, const std::string &label) {
  require(store.outputs.size() == store.places.size(), "{} has outputs without places", label);
  require(store.micro_batch < plan.micro_batches, "{} stores micro-batch {}, but there are {} micro-batches", label,
          store.micro_batch, plan.micro_batches);
  require(program.purpose == plan::Purpose::evaluate, "{} stores outputs, but is in a training step", label);
  for (size_t i = 0; i < std::min(store.outputs.size(), store.places.size()); ++i) {
    if (store.outputs[i] >= plan.outputs.size()) {
      require(false, "{} stores output {}, but there are {} outputs", label, store.outputs[i], plan.outputs.size());
      continue;
    }
    const plan::OutputT &output = *plan.outputs[store.outputs[i]];
    checkPlace(&store.places[i], (Quantity)plan.micro * sampleElements(output) * bytesOf(output.element), label);
  }
}

void ProgramChecker::checkRun(const plan::RunT &run, const std::string &label) {
  if (run.function >= plan.functions.size())
    return require(false, "{} runs function {}, but there are {} functions", label, run.function,
                   plan.functions.size());
  const plan::FunctionT &function = *plan.functions[run.function];
  if (run.places.size() != function.slots)
    return require(false, "{} has {} places, but its function has {} slots", label, run.places.size(), function.slots);
  for (const auto &call : function.calls) {
    if (!problems.empty())
      return;
    std::string what = fmt::format("{}, call '{}'", label, call->name);
    auto check = [&](const std::vector<plan::Operand> &operands, const std::vector<uint64_t> &bytes) {
      for (size_t i = 0; i < operands.size() && operands[i].slot() < function.slots; ++i)
        checkPlace(&run.places[operands[i].slot()], (Quantity)bytes[i], what, operands[i].offset());
    };
    check(call->ins, call->in_bytes);
    check(call->outs, call->out_bytes);
    check(call->workspace, {call->workspace_bytes});
  }
}

} // namespace xlc::runtime
