// See Checker.h. Memory is compared in blocks that are read from the device.
#include "Checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace xlc::runtime {
namespace {

constexpr uint64_t guardBytes = 4096; // looked at on both sides of each operand after each call
constexpr uint64_t comparedBytes = 1 << 16;

} // namespace

Checker::Checker(const Plan &plan, const plan::ProgramT &program, int rank, Device &device, char *arena)
    : ForwardingDevice(device), plan(plan), program(program), rank(rank), arena(arena),
      image(device.allocate(program.arena).begin), dying(program.steps.size()), block(comparedBytes),
      otherBlock(comparedBytes) {
  device.fill(image, poison, program.arena);
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

void Checker::run(const plan::CallT &call, const CallOperands &operands) {
  char *const *given = operands.addresses;
  std::vector<Range> touched;
  std::vector<char *> inImage;
  auto add = [&](char *at, uint64_t bytes) {
    uint64_t begin = (uint64_t)(at - arena);
    touched.push_back({begin, begin + bytes});
    return image + begin;
  };
  for (size_t i = 0; i < call.ins.size() + call.outs.size(); ++i) {
    uint64_t bytes = i < call.ins.size() ? call.in_bytes[i] : call.out_bytes[i - call.ins.size()];
    inImage.push_back(add(given[i], bytes));
    device.copy({given[i], inImage.back(), bytes});
  }
  CallOperands elsewhere = operands;
  elsewhere.addresses = inImage.data();
  if (operands.workspace)
    elsewhere.workspace = add(operands.workspace, call.workspace_bytes);
  device.run(call, elsewhere);
  for (size_t i = 0; i < call.outs.size(); ++i)
    device.copy({inImage[call.ins.size() + i], given[call.ins.size() + i], call.out_bytes[i]});
  for (size_t i = 0; i < call.ins.size(); ++i)
    if (!areEqual(given[i], inImage[i], call.in_bytes[i]))
      throw std::runtime_error(fmt::format("call '{}' changed its operand {}, which it may only read", call.name, i));
  checkAround(touched, call);
  for (const Range &range : touched)
    device.fill(image + range.begin, poison, range.end - range.begin);
}

bool Checker::areEqual(const char *first, const char *second, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += comparedBytes) {
    uint64_t some = std::min(comparedBytes, bytes - at);
    device.read(block.data(), first + at, some);
    device.read(otherBlock.data(), second + at, some);
    if (std::memcmp(block.data(), otherBlock.data(), some) != 0)
      return false;
  }
  return true;
}

/// First byte of [begin, end) of the image that is not poison, or `end`.
uint64_t Checker::findTouched(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; at += comparedBytes) {
    uint64_t some = std::min(comparedBytes, end - at);
    device.read(block.data(), image + at, some);
    auto found = std::find_if(block.begin(), block.begin() + (ptrdiff_t)some,
                              [](char byte) { return (unsigned char)byte != poison; });
    if (found != block.begin() + (ptrdiff_t)some)
      return at + (uint64_t)(found - block.begin());
  }
  return end;
}

void Checker::expectPoison(uint64_t begin, uint64_t end, const plan::CallT &call) {
  uint64_t at = findTouched(begin, end);
  if (at < end)
    throw std::runtime_error(
        fmt::format("call '{}' wrote at byte {} of the arena, outside its operands", call.name, at));
}

void Checker::checkAround(const std::vector<Range> &touched, const plan::CallT &call) {
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

void Checker::poisonAfter(uint64_t index) {
  for (const Range &range : dying[index])
    device.fill(arena + range.begin, poison, range.end - range.begin);
}

void Checker::release(const plan::Place &place, uint64_t bytes) {
  device.fill(arena + offsetOf(place, rank, *plan.mesh), poison, bytes);
}

void Checker::checkStep() {
  uint64_t at = findTouched(0, program.arena);
  if (at < program.arena)
    throw std::runtime_error(
        fmt::format("a call of this step wrote at byte {} of the arena, far outside its operands", at));
}

} // namespace xlc::runtime
