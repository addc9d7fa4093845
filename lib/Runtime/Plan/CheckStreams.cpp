// Checks whether the streams of a program may run concurrently: if one stream writes memory that another accesses,
// `after` must order the two actions. The compiler's gate (lib/Memory/VerifyStreams.cpp) checks this in the IR; this
// file checks it in the plan that was generated from the IR.
#include "PlanCheckers.h"
#include "xlc/Support/StreamRaces.h"

#include <map>
#include <optional>

namespace xlc::runtime {
namespace {

constexpr size_t kStreams = (size_t)plan::Stream::MAX + 1;

/// Bytes of a slot, from its place on.
struct SlotAccess {
  uint32_t slot;
  ByteRange bytes;
  bool writes;
};

/// Of each slot all that the calls read, and all that they write, each from the first to behind the last byte.
std::vector<SlotAccess> readFunction(const plan::FunctionT &function) {
  std::map<std::pair<uint32_t, bool>, ByteRange> found;
  auto add = [&](const plan::Operand &operand, uint64_t bytes, bool writes) {
    ByteRange range{operand.offset(), operand.offset() + (int64_t)bytes};
    auto [it, isNew] = found.try_emplace({operand.slot(), writes}, range);
    it->second = {std::min(it->second.begin, range.begin), std::max(it->second.end, range.end)};
  };
  for (const auto &call : function.calls) {
    for (size_t i = 0; i < call->ins.size(); ++i)
      add(call->ins[i], call->in_bytes[i], false);
    for (size_t i = 0; i < call->outs.size(); ++i)
      add(call->outs[i], call->out_bytes[i], true);
    for (const plan::Operand &workspace : call->workspace)
      add(workspace, call->workspace_bytes, true);
  }
  std::vector<SlotAccess> accesses;
  for (const auto &[key, bytes] : found)
    accesses.push_back({key.first, bytes, key.second});
  return accesses;
}

/// What an action touches, whatever rank runs it: where shards differ in their place, from the lowest to the highest byte.
class ActionBytes {
public:
  explicit ActionBytes(const Plan &plan) : plan(plan), functions(plan.functions.size()) {}

  /// `exchanged`: bytes that a rank gives and gets, where it is a collective.
  std::vector<ByteAccess> of(const plan::ActionUnion &action, std::pair<uint64_t, uint64_t> exchanged) {
    found.clear();
    if (const auto *begin = action.AsBegin()) {
      for (const plan::Place &place : begin->places)
        forEachHostNumberOfGroup([&](const StepNumberRow &row) {
          plan::Place number(place.offset() + offsetInGroup(row.number), place.stride(), place.buffer());
          add(number, bytesOf(row.type), true);
        });
      for (const plan::NumberPlace &number : begin->numbers)
        add(number.place(), bytesOf(kStepNumbers[number.number()].type), true);
    } else if (const auto *load = action.AsLoad()) {
      for (size_t i = 0; i < load->inputs.size(); ++i) {
        const plan::InputT &input = *plan.inputs[load->inputs[i]];
        add(load->places[i], rowsOf(plan, input) * rowElements(input) * bytesOf(input.element), true);
      }
    } else if (const auto *store = action.AsStore()) {
      for (size_t i = 0; i < store->outputs.size(); ++i) {
        const plan::OutputT &output = *plan.outputs[store->outputs[i]];
        add(store->places[i], plan.micro * sampleElements(output) * bytesOf(output.element), false);
      }
    } else if (const auto *run = action.AsRun()) {
      addRun(*run);
    } else if (const auto *exchange = action.AsExchange()) {
      add(*exchange->src, exchanged.first, false);
      add(*exchange->dst, exchanged.second, true);
    } else if (const auto *send = action.AsSend()) {
      add(*send->place, send->bytes, false);
    } else if (const auto *receive = action.AsReceive()) {
      add(*receive->place, receive->bytes, true);
    } else if (const auto *release = action.AsRelease()) { // what comes next there must not come earlier
      add(*release->place, release->bytes, true);
    }
    return found;
  }

private:
  void addRun(const plan::RunT &run) {
    std::optional<std::vector<SlotAccess>> &slots = functions[run.function];
    if (!slots)
      slots = readFunction(*plan.functions[run.function]);
    for (const SlotAccess &access : *slots) {
      const plan::Place &slot = run.places[access.slot];
      plan::Place place(slot.offset() + (uint64_t)access.bytes.begin, slot.stride(), slot.buffer());
      add(place, (uint64_t)(access.bytes.end - access.bytes.begin), access.writes);
    }
  }

  void add(const plan::Place &place, uint64_t bytes, bool writes) {
    int64_t begin = (int64_t)place.offset(), far = begin + ((int64_t)plan.mesh->shards() - 1) * place.stride();
    found.push_back({place.buffer(), {std::min(begin, far), std::max(begin, far) + (int64_t)bytes}, writes});
  }

  const Plan &plan;
  std::vector<std::optional<std::vector<SlotAccess>>> functions; ///< what they do with their slots
  std::vector<ByteAccess> found;
};

} // namespace

void ProgramChecker::checkOrder() {
  std::vector<std::vector<ByteAccess>> touched;
  ActionBytes bytesOfAction(plan);
  ByteSet besideCompute; // other bytes have the order of one stream
  for (const auto &step : program.steps) {
    std::pair<uint64_t, uint64_t> exchanged;
    if (const auto *exchange = step->action.AsExchange()) {
      auto [src, dst] = bytesOfExchange(plan, *exchange);
      exchanged = {(uint64_t)src.clamp(), (uint64_t)dst.clamp()};
    }
    touched.push_back(bytesOfAction.of(step->action, exchanged));
    if (step->stream != plan::Stream::compute)
      for (const ByteAccess &access : touched.back())
        besideCompute.add(access.bytes);
  }
  StreamRaces<kStreams> races;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const plan::StepT &step = *program.steps[i];
    if (step.stream == plan::Stream::compute)
      std::erase_if(touched[i], [&](const ByteAccess &access) { return !besideCompute.meets(access.bytes); });
    std::optional<StreamRace> race = races.add((size_t)step.stream, step.after, touched[i]);
    if (!race)
      continue;
    auto named = [&](const plan::StepT &racing, int64_t buffer) {
      return RacingAction{racing.label, plan::EnumNameStream(racing.stream), program.buffers[(size_t)buffer]->name};
    };
    return require(false, "stage {}: {}", stage,
                   describe(*race, named(step, race->buffer), named(*program.steps[race->other], race->otherBuffer)));
  }
}

} // namespace xlc::runtime
