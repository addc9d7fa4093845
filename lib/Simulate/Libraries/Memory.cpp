// See Memory.h.
#include "Memory.h"
#include "Device.h"

#include <cstring>
#include <sys/mman.h>

namespace xlc::simulate {
namespace {

constexpr unsigned char kPoison = 0xfb; // of floats: a NaN in sixteen bits, else large

} // namespace

Region *Memory::findRegion(const char *at, uint64_t bytes) {
  for (Region &region : regions)
    if (region.isMapped && at >= region.begin && at + bytes <= region.begin + region.bytes)
      return &region;
  return nullptr;
}

void Memory::beginItem(size_t queue, std::string name) {
  queues = std::max(queues, queue + 1);
  names[queue].push_back(std::move(name));
}

std::string Memory::describeRace(size_t queue, uint32_t tick, const char *did) const {
  return std::string(" that '") + names[queue][tick - 1] + "' on another stream " + did +
         "; the two accesses are not ordered";
}

std::string Memory::access(const Accessor &by, const char *at, uint64_t bytes, bool writes) {
  Region *region = findRegion(at, bytes);
  if (!region)
    return " outside of the device's memory";
  uint64_t from = (uint64_t)(at - region->begin);
  for (uint64_t end = from + bytes, next; from < end; from = next) {
    next = std::min(end, (from / Touches::kPage + 1) * Touches::kPage);
    if (std::string problem = accessPage(by, *region, from, next, writes); !problem.empty())
      return problem;
  }
  return "";
}

/// Bytes of one page.
std::string Memory::accessPage(const Accessor &by, Region &region, uint64_t begin, uint64_t end, bool writes) {
  Touches::Page &own = region.touches[by.queue].make(begin);
  std::array<const Touches::Page *, kMostQueues> all{};
  bool areAlike = true;
  for (size_t queue = 0; queue < queues; ++queue) {
    all[queue] = region.touches[queue].find(begin);
    areAlike &= !all[queue] || all[queue]->isAlike();
  }
  const uint64_t from = begin % Touches::kPage, count = end - begin;
  for (uint64_t byte = from; byte < from + (areAlike ? 1 : count); ++byte) {
    bool wasWritten = false;
    for (size_t queue = 0; queue < queues; ++queue) {
      if (!all[queue])
        continue;
      Touches::Last last = all[queue]->at(byte);
      wasWritten |= last.written > 0;
      if (last.written > by.clock[queue])
        return describeRace(queue, last.written, "writes");
      if (writes && last.read > by.clock[queue])
        return describeRace(queue, last.read, "reads");
    }
    if (!writes && !wasWritten)
      return " that were never written";
  }
  own.touch(from, count, writes, by.clock[by.queue]);
  return "";
}

/// A queue's write comes after its reads: who comes after the write comes after them.
void Touches::Page::touch(uint64_t from, uint64_t count, bool writes, uint32_t now) {
  if (count == kPage && writes) {
    all = {now, 0}, bytes.reset();
    return;
  }
  if (count == kPage && isAlike()) {
    all.read = now;
    return;
  }
  if (isAlike()) {
    bytes = std::make_unique<std::array<Last, kPage>>();
    bytes->fill(all);
  }
  for (uint64_t byte = from; byte < from + count; ++byte)
    (writes ? (*bytes)[byte].written : (*bytes)[byte].read) = now;
}

void Memory::map(Region &region) {
  if (mprotect(region.begin, region.bytes, PROT_READ | PROT_WRITE) != 0)
    endWith("no memory");
  std::memset(region.begin, kPoison, region.bytes);
  region.touches = {};
  region.isMapped = true;
}

} // namespace xlc::simulate
