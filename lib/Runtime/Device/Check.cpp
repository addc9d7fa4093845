// See Check.h.
#include "Check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace xlc::runtime {
namespace {

constexpr uint64_t guardBytes = 4096; // looked at on both sides of each operand after each call

/// First byte of [begin, end) that is not poison, or `end`.
uint64_t findTouched(const char *base, uint64_t begin, uint64_t end) {
  while (begin < end && (unsigned char)base[begin] == poison)
    ++begin;
  return begin;
}

} // namespace

Checker::Checker(const Plan &plan, int rank, char *arena)
    : plan(plan), program(programOf(plan, rank)), rank(rank), arena(arena),
      image(program.arena, plan.alignment, imageBytes), dying(program.steps.size()) {
  image.fill(poison);
  for (const auto &buffer : program.buffers)
    if (!buffer->persistent && buffer->last >= 0 && (size_t)buffer->last < dying.size())
      addDying(*buffer);
}

/// What is left of a dying buffer without those that live on: within its last action it may have made room for them.
void Checker::addDying(const plan::BufferT &buffer) {
  std::vector<Range> kept;
  uint64_t begin = buffer.offset, end = buffer.offset + buffer.size;
  for (const auto &other : program.buffers) {
    bool livesOn = other->persistent || (other->first <= buffer.last && other->last > buffer.last);
    if (livesOn && other->offset < end && begin < other->offset + other->size)
      kept.push_back({other->offset, other->offset + other->size});
  }
  std::sort(kept.begin(), kept.end(), [](const Range &a, const Range &b) { return a.begin < b.begin; });
  kept.push_back({end, end});
  for (const Range &range : kept) {
    if (begin < range.begin)
      dying[buffer.last].push_back({begin, std::min(range.begin, end)});
    begin = std::max(begin, range.end);
  }
}

void Checker::runCall(const plan::CallT &call, char *const *operands, char *workspace,
                      const std::function<void(char *const *, char *)> &run) {
  std::vector<Range> touched;
  std::vector<char *> inImage;
  auto add = [&](char *at, uint64_t bytes) {
    uint64_t begin = (uint64_t)(at - arena);
    touched.push_back({begin, begin + bytes});
    return image.data() + begin;
  };
  for (size_t i = 0; i < call.ins.size() + call.outs.size(); ++i) {
    uint64_t bytes = i < call.ins.size() ? call.in_bytes[i] : call.out_bytes[i - call.ins.size()];
    inImage.push_back(add(operands[i], bytes));
    std::memcpy(inImage.back(), operands[i], bytes);
  }
  char *scratch = workspace ? add(workspace, call.workspace_bytes) : nullptr;
  run(inImage.data(), scratch);
  for (size_t i = 0; i < call.outs.size(); ++i)
    std::memcpy(operands[call.ins.size() + i], inImage[call.ins.size() + i], call.out_bytes[i]);
  for (size_t i = 0; i < call.ins.size(); ++i)
    if (std::memcmp(operands[i], inImage[i], call.in_bytes[i]) != 0)
      throw std::runtime_error(fmt::format("call '{}' changed its operand {}, which it may only read", call.name, i));
  checkAround(touched, call);
  for (const Range &range : touched)
    std::memset(image.data() + range.begin, poison, range.end - range.begin);
}

void Checker::expectPoison(uint64_t begin, uint64_t end, const plan::CallT &call) const {
  uint64_t at = findTouched(image.data(), begin, end);
  if (at < end)
    throw std::runtime_error(
        fmt::format("call '{}' wrote at byte {} of the arena, outside its operands", call.name, at));
}

void Checker::checkAround(const std::vector<Range> &touched, const plan::CallT &call) const {
  std::vector<Range> sorted = touched;
  std::sort(sorted.begin(), sorted.end(), [](const Range &a, const Range &b) { return a.begin < b.begin; });
  uint64_t clean = 0; // all below is looked at, or an operand's
  for (size_t i = 0; i < sorted.size(); ++i) {
    uint64_t before = sorted[i].begin > guardBytes ? sorted[i].begin - guardBytes : 0;
    expectPoison(std::max(clean, before), std::max(clean, sorted[i].begin), call);
    clean = std::max(clean, sorted[i].end);
    uint64_t next = i + 1 < sorted.size() ? sorted[i + 1].begin : program.arena,
             after = std::min(clean + guardBytes, next);
    if (after > clean) {
      expectPoison(clean, after, call);
      clean = after;
    }
  }
}

void Checker::endAction(uint64_t index) {
  for (const Range &range : dying[index])
    std::memset(arena + range.begin, poison, range.end - range.begin);
}

void Checker::release(const plan::Place &place, uint64_t bytes) {
  std::memset(arena + offsetOf(place, rank, *plan.mesh), poison, bytes);
}

void Checker::endStep() {
  uint64_t at = findTouched(image.data(), 0, image.size());
  if (at < image.size())
    throw std::runtime_error(
        fmt::format("a call of this step wrote at byte {} of the arena, far outside its operands", at));
}

} // namespace xlc::runtime
