// See TraceFile.h. The format: "Trace Event Format", complete events ("ph": "X"), times in microseconds.
#include "TraceFile.h"

#include "Files/OutputFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace xlc::runtime {
namespace {

/// The word under which a trace files an action.
const char *kindOf(plan::Action action) {
  switch (action) {
  case plan::Action::Run:
    return "run";
  case plan::Action::Exchange:
    return "collective";
  case plan::Action::Send:
  case plan::Action::Receive:
    return "transfer";
  default:
    return "other";
  }
}

/// Whether the plan has what an event is of. What another process has kept is its own.
bool isPlanned(const Plan &plan, int rank, const TraceEvent &event) {
  const plan::ProgramT *program = findProgram(plan, event.purpose, stageOf(plan, rank));
  if (!program)
    return false;
  const auto &steps = program->steps;
  if (event.action >= steps.size() || event.call < 0)
    return event.action < steps.size();
  const plan::RunT *run = steps[event.action]->action.AsRun();
  return run && (size_t)event.call < plan.functions[run->function]->calls.size();
}

/// Name and kind of an event, from the plan. Actions of an evaluation are told from those of training.
std::pair<std::string, const char *> describe(const Plan &plan, int rank, const TraceEvent &event) {
  const plan::StepT &action = *programOf(plan, event.purpose, rank).steps[event.action];
  if (event.call < 0)
    return {event.purpose == plan::Purpose::train
                ? action.label
                : fmt::format("{}: {}", plan::EnumNamePurpose(event.purpose), action.label),
            kindOf(action.action.type)};
  const plan::CallT &call = *plan.functions[action.action.AsRun()->function]->calls[event.call];
  return {call.name, call.exchange ? "collective" : "call"};
}

} // namespace

void writeTrace(const std::string &path, const Plan &plan, const std::vector<RankTrace> &ranks) {
  OutputFile file(path, Devices::WrittenTo);
  int64_t origin = INT64_MAX;
  for (const RankTrace &rank : ranks)
    for (const TraceEvent &event : rank.events())
      origin = std::min(origin, event.begin);
  auto write = [&](const std::string &text) { file.write(text); };
  write("{\"traceEvents\":[\n");
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    write(fmt::format("{}{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"rank {}\"}}}}",
                      rank ? ",\n" : "", rank, rank));
    for (plan::Stream stream : plan::EnumValuesStream()) // a row for each, in this order
      write(
          fmt::format(",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
                      rank, (int)stream, plan::EnumNameStream(stream)));
    for (const TraceEvent &event : ranks[rank].events()) {
      if (!isPlanned(plan, (int)rank, event))
        continue;
      auto [name, kind] = describe(plan, (int)rank, event);
      write(fmt::format(
          ",\n{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f}}}",
          nlohmann::json(name).dump(), kind, rank, (int)event.stream, (event.begin - origin) / 1e3,
          (event.end - event.begin) / 1e3));
    }
  }
  uint64_t dropped = 0;
  for (const RankTrace &rank : ranks)
    dropped += rank.dropped();
  write(fmt::format("\n],\"otherData\":{{\"dropped_events\":{}}}}}\n", dropped));
  file.publish();
}

} // namespace xlc::runtime
