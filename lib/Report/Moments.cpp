// See Moments.h. The peak is found by a sweep over the moments at which buffers begin and end.
#include "Moments.h"
#include "xlc/Dialect/Sched/Sched.h"
#include <numeric>

using namespace mlir;
using namespace xlc;

int64_t xlc::findPeak(const Lifetimes &lifetimes) {
  std::vector<int64_t> change(lifetimes.moments + 2, 0);
  for (const Interval &interval : lifetimes.buffers) {
    change[interval.first] += interval.size;
    change[interval.last + 1] -= interval.size;
  }
  int64_t live = 0, most = -1, peak = 0;
  for (auto [moment, bytes] : llvm::enumerate(change)) {
    live += bytes;
    if (live > most)
      most = live, peak = moment;
  }
  return peak;
}

std::vector<BytesByCause> xlc::changesOfMemory(exec::ProgramOp program, const Lifetimes &lifetimes) {
  std::vector<BytesByCause> changes(lifetimes.moments + 2, BytesByCause{});
  for (auto [buffer, interval] : llvm::zip(program.getBody().front().getOps<exec::BufferOp>(), lifetimes.buffers)) {
    changes[interval.first][size_t(buffer.getCause())] += interval.size;
    changes[interval.last + 1][size_t(buffer.getCause())] -= interval.size;
  }
  return changes;
}

std::vector<BytesByCause> xlc::memoryOfActions(exec::ProgramOp program) {
  Lifetimes lifetimes = findLifetimes(program);
  std::vector<BytesByCause> changes = changesOfMemory(program, lifetimes), memory(lifetimes.starts.size());
  std::vector<int64_t> most(memory.size(), -1);
  BytesByCause live = {};
  size_t action = 0;
  for (int64_t moment = 0; moment < lifetimes.moments; ++moment) {
    for (auto [sum, change] : llvm::zip(live, changes[moment]))
      sum += change;
    while (action + 1 < lifetimes.starts.size() && lifetimes.starts[action + 1] <= moment)
      ++action;
    if (int64_t total = std::accumulate(live.begin(), live.end(), int64_t(0)); total > most[action])
      most[action] = total, memory[action] = live;
  }
  return memory;
}

size_t xlc::actionAt(const Lifetimes &lifetimes, int64_t moment) {
  return llvm::upper_bound(lifetimes.starts, moment) - lifetimes.starts.begin() - 1;
}

std::string xlc::describeMoment(exec::ProgramOp program, const Lifetimes &lifetimes, int64_t moment) {
  size_t number = actionAt(lifetimes, moment);
  for (auto [i, action] : llvm::enumerate(program.getOps<exec::Action>()))
    if (i == number)
      return action.getLabel().str();
  return "";
}

BufferNames::BufferNames(ModuleOp module) {
  for (auto bucket : module.getOps<sched::BucketOp>())
    members[bucket.getSymName()] = bucket.getMembers();
}

std::string BufferNames::describe(StringRef buffer) const {
  auto it = members.find(buffer.take_until([](char c) { return c == '/' || c == ' '; }));
  if (it == members.end() || it->second.empty())
    return buffer.str();
  std::string text = (buffer + ": " + cast<StringAttr>(it->second[0]).getValue()).str();
  return it->second.size() == 1 ? text : text + " and " + std::to_string(it->second.size() - 1) + " more";
}
