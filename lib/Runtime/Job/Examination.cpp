// See Examination.h. A place whose key is larger than that of an already found value is not examined.
#include "Examination.h"

#include "Plan/Elements.h"
#include "Plan/Exchanges.h"
#include "Plan/Ranks.h"
#include "State/States.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

constexpr double examinedPerSecond = 5e8; ///< bytes, of one core

bool overlap(const char *a, uint64_t countA, const char *b, uint64_t countB) {
  return a < b + countB && b < a + countA;
}

} // namespace

/// A tensor's bytes, where the host can read them.
class Examination::Reading {
public:
  Reading(RankMemory memory, const plan::ViewT &view, const char *address) : bytes(address) {
    if (memory.isOfHost)
      return;
    copy.resize(spanOf(view));
    memory.device->read(copy.data(), address, copy.size());
    bytes = copy.data();
  }
  const char *begin() const { return bytes; }

private:
  std::vector<char> copy;
  const char *bytes;
};

Examination::Examination(const Plan &plan, Request &request, const std::atomic<int> &signal, Step step,
                         std::function<RankMemory(int)> memoryOf)
    : plan(plan), request(request), signal(signal), how(step), memoryOf(std::move(memoryOf)) {
  for (uint32_t stage = 0; stage < plan.mesh->pp(); ++stage) {
    const plan::ProgramT &program = *findProgram(plan, plan::Purpose::train, stage);
    moments.push_back(momentsOf(plan, program));
    updates.push_back(findUpdates(plan, program));
  }
}

std::string Examination::announce(uint64_t step) const {
  uint64_t bytes = 0;
  for (const auto &action : trainingProgramOf(plan, 0).steps)
    if (const auto *run = action->action.AsRun())
      for (const auto &call : plan.functions[run->function]->calls)
        for (uint64_t some : call->out_bytes)
          bytes += some;
  return fmt::format(
      "step {} is run again to find the first value that is not finite: about {:.2g} s (--no-examine skips this)", step,
      1 + (double)bytes / examinedPerSecond);
}

const plan::ProgramT &Examination::programAt(const Position &at) const { return trainingProgramOf(plan, at.rank); }

/// None where there is nothing to look for: an earlier place is known, or the user wants an end.
std::optional<uint64_t> Examination::keyOf(const Position &at) const {
  const Moment &moment = moments[stageOf(plan, at.rank)][at.action];
  uint64_t call = moment.calls + (uint64_t)std::max<int64_t>(at.call, 0);
  uint64_t key = keyOfPlace(moment.order, call, at.rank);
  bool isWanted = ~key > request.found && !isInterrupted();
  return isWanted ? std::optional(key) : std::nullopt;
}

void Examination::note(const Position &at, uint64_t key, const std::string &what) {
  const plan::StepT &step = *programAt(at).steps[at.action];
  std::string text = fmt::format("step {}, rank {}", at.step, at.rank);
  if (const auto *run = step.action.AsRun(); isOfMicroBatch(step))
    text += fmt::format(", micro-batch {}", run->micro_batch);
  if (const auto *load = step.action.AsLoad())
    text += fmt::format(", micro-batch {}", load->micro_batch);
  text += fmt::format(", action '{}'{}", step.label, what);
  Request::raise(request.found, ~key);
  std::lock_guard lock(mutex);
  auto [it, isNew] = found.try_emplace(at.rank, Found{key, text});
  if (!isNew && key < it->second.key)
    it->second = {key, text};
}

std::string Examination::describe(int rank, uint64_t step) {
  if (isInterrupted()) // the values of calls that were skipped are those of another time
    return rank == 0 ? "the search for the first value that is not finite was interrupted" : "";
  if (request.found == 0)
    return rank == 0 ? fmt::format("all values are finite in the second run of step {}", step) : "";
  std::lock_guard lock(mutex);
  auto it = found.find(rank);
  bool isFirst = it != found.end() && ~it->second.key == request.found;
  return isFirst ? "the first value that is not finite: " + it->second.text : "";
}

/// Null where it is none, or lies in a bucket that was gathered.
const plan::ParameterT *Examination::findParameter(const Position &at, const Tensor &tensor) const {
  for (const auto &home : programAt(at).states) {
    const plan::StateT &row = *plan.states[home->state];
    if (home->place->buffer() != tensor.place->buffer() || !isOfBucket(row) || !isRead(row))
      continue;
    auto element = (uint64_t)((int64_t)(tensor.place->offset() - home->place->offset()) + tensor.offset) /
                   runtime::bytesOf(row.element);
    for (const auto &parameter : plan.parameters)
      if (parameter->bucket == row.bucket && parameter->offset <= element &&
          element < parameter->offset + parameter->elements)
        return parameter.get();
  }
  return nullptr;
}

/// A parameter by its name, an input, or the buffer's name.
std::string Examination::nameOf(const Position &at, const Tensor &tensor) const {
  const plan::BufferT &buffer = *programAt(at).buffers[tensor.place->buffer()];
  if (const plan::ParameterT *parameter = findParameter(at, tensor))
    return fmt::format("parameter '{}'", parameter->name);
  for (const auto &input : plan.inputs)
    if (input->name == buffer.name)
      return fmt::format("input '{}'", input->name);
  return fmt::format("tensor '{}'", buffer.name);
}

std::string Examination::describeOperand(const Position &at, const Tensor &tensor) const {
  std::string text = fmt::format("{}, with magnitudes up to {:.4g}", nameOf(at, tensor), tensor.found.largest);
  if (tensor.found.nan)
    text += fmt::format(", and nan at {}", describeIndex(tensor.view, *tensor.found.nan));
  if (tensor.found.infinite)
    text += fmt::format(", and an infinite number at {}", describeIndex(tensor.view, *tensor.found.infinite));
  return text;
}

void Examination::call(const Position &at, const char *, const std::function<void()> &run) {
  if (how == Step::RunAgain && (isInterrupted() || updates[stageOf(plan, at.rank)][at.action]))
    return;
  const plan::RunT &action = *programAt(at).steps[at.action]->action.AsRun();
  look(at, *plan.functions[action.function]->calls[at.call], run);
}

/// Looks at the results of a call; where there is something, at its operands too, of which those that the call writes
/// over were looked at before it.
void Examination::look(const Position &at, const plan::CallT &call, const std::function<void()> &run) {
  std::optional<uint64_t> key = keyOf(at);
  if (!key)
    return run();
  const plan::RunT &action = *programAt(at).steps[at.action]->action.AsRun();
  RankMemory memory = memoryOf(at.rank);
  auto addressOf = [&](const Tensor &tensor) {
    return memory.arena + offsetOf(*tensor.place, at.rank, *plan.mesh) + tensor.offset;
  };
  auto tensorsOf = [&](const std::vector<plan::Operand> &operands, const std::vector<uint32_t> &views) {
    std::vector<Tensor> tensors;
    tensors.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
      tensors.push_back({*plan.views[views[i]], &action.places[operands[i].slot()], operands[i].offset(), {}});
    return tensors;
  };
  auto lookAt = [&](Tensor &tensor) {
    tensor.found = findNonFinite(tensor.view, Reading(memory, tensor.view, addressOf(tensor)).begin());
  };
  std::vector<Tensor> ins = tensorsOf(call.ins, call.in_views), outs = tensorsOf(call.outs, call.out_views);
  auto isWrittenOver = [&](const Tensor &in) {
    return std::ranges::any_of(outs, [&](const Tensor &out) {
      return overlap(addressOf(in), spanOf(in.view), addressOf(out), spanOf(out.view));
    });
  };
  for (Tensor &in : ins)
    if (isWrittenOver(in))
      lookAt(in);
  run();
  std::ranges::for_each(outs, lookAt);
  if (std::ranges::none_of(outs, [](const Tensor &out) { return out.found.isFound(); }))
    return;
  for (Tensor &in : ins)
    if (!isWrittenOver(in))
      lookAt(in);
  auto isMeant = [&](const Tensor &in) {
    const plan::ParameterT *parameter = in.found.infinite ? findParameter(at, in) : nullptr;
    return in.found.infinite && (!parameter || parameter->frozen); // a mask may be one
  };
  bool mayBeInfinite =
      (!call.exchange && plan.kernels[call.kernel]->writes_infinity) || std::ranges::any_of(ins, isMeant);
  for (const Tensor &out : outs) {
    std::optional<uint64_t> first = out.found.nan;
    if (!mayBeInfinite && out.found.infinite && (!first || *out.found.infinite < *first))
      first = out.found.infinite;
    if (!first)
      continue;
    std::string text = fmt::format(", operation '{}'", call.name);
    if (!call.exchange)
      text += fmt::format(" ({})", plan.kernels[call.kernel]->name);
    text += fmt::format(": element {} of its result, {} tensor '{}', is {}", describeIndex(out.view, *first),
                        runtime::nameOf(out.view.element), programAt(at).buffers[out.place->buffer()]->name,
                        describeElement(out.view, Reading(memory, out.view, addressOf(out)).begin(), *first));
    const char *separator = "; its operands: ";
    for (const Tensor &in : ins)
      if (isFloat(in.view.element))
        text += std::exchange(separator, "; ") + describeOperand(at, in);
    return note(at, *key, text);
  }
}

/// In a function the exchange is a call with views; as an action it has only a count and a place, so its result is
/// examined as one row.
void Examination::exchange(const Position &at, const std::function<void()> &run) {
  const plan::ActionUnion &action = programAt(at).steps[at.action]->action;
  if (const auto *function = action.AsRun())
    return look(at, *plan.functions[function->function]->calls[at.call], run);
  run();
  std::optional<uint64_t> key = keyOf(at);
  const plan::ExchangeT &exchange = *action.AsExchange();
  if (!key || !isFloat(exchange.element))
    return;
  uint64_t pieces =
      exchange.kind == plan::CollectiveKind::all_gather ? groupSize(*plan.rank_groups[exchange.group]) : 1;
  plan::ViewT view;
  view.element = exchange.element, view.sizes = {exchange.outer * exchange.chunk * pieces}, view.strides = {1};
  RankMemory memory = memoryOf(at.rank);
  Reading reading(memory, view, memory.arena + offsetOf(*exchange.dst, at.rank, *plan.mesh));
  NonFinite numbers = findNonFinite(view, reading.begin());
  if (!numbers.isFound())
    return;
  uint64_t first = std::min(numbers.nan.value_or(UINT64_MAX), numbers.infinite.value_or(UINT64_MAX));
  note(at, *key,
       fmt::format(": element {} is {} ({}); the other elements have magnitudes up to {:.4g}",
                   describeIndex(view, first), describeElement(view, reading.begin(), first),
                   runtime::nameOf(view.element), numbers.largest));
}

/// Examines the inputs of a load. Minus infinity is allowed in them: masks have it.
void Examination::act(const Position &at, const std::function<void()> &run) {
  run();
  const auto *load = programAt(at).steps[at.action]->action.AsLoad();
  std::optional<uint64_t> key = load ? keyOf(at) : std::nullopt;
  for (size_t i = 0; key && i < load->inputs.size(); ++i) {
    const plan::InputT &input = *plan.inputs[load->inputs[i]];
    if (!isFloat(input.element))
      continue;
    plan::ViewT view;
    view.element = input.element, view.sizes = {rowsOf(plan, input)};
    view.sizes.insert(view.sizes.end(), input.row_shape.begin(), input.row_shape.end());
    view.strides.resize(view.sizes.size(), 1);
    for (size_t d = view.sizes.size() - 1; d > 0; --d)
      view.strides[d - 1] = view.strides[d] * (int64_t)view.sizes[d];
    RankMemory memory = memoryOf(at.rank);
    Reading reading(memory, view, memory.arena + offsetOf(load->places[i], at.rank, *plan.mesh));
    NonFinite numbers = findNonFinite(view, reading.begin());
    std::optional<uint64_t> first = numbers.nan;
    if (numbers.infinite && describeElement(view, reading.begin(), *numbers.infinite) == "inf")
      first = std::min(first.value_or(UINT64_MAX), *numbers.infinite);
    if (first)
      return note(at, *key,
                  fmt::format(": element {} of input '{}' is {}", describeIndex(view, *first), input.name,
                              describeElement(view, reading.begin(), *first)));
  }
}

} // namespace xlc::runtime
