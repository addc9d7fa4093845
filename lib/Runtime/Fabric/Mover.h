// What a fabric asks of a rank's device: copies and combinations of bytes that lie in memory which the device can reach,
// done by the rank's own threads. A fabric knows where pieces lie and when they may be read, not what they are made of.
#ifndef XLC_LIB_RUNTIME_FABRIC_MOVER_H
#define XLC_LIB_RUNTIME_FABRIC_MOVER_H

#include "Plan_generated.h"

#include <cstdint>
#include <span>

namespace xlc::runtime {

/// Copies runs of `bytes` bytes: run (o, r) of [outer, rows] begins o * `outer` + r * `row` bytes behind the first.
/// Source and target are the same memory or do not meet.
struct Copy {
  struct Steps {
    uint64_t outer = 0, row = 0;
  };
  const char *from;
  char *to;
  uint64_t bytes, outer = 1, rows = 1;
  Steps fromSteps = {}, toSteps = {};
};

enum class Combine { Sum, Largest };

/// Of runs of `count` elements: run i of `to`, where they follow each other, gets the combination of all sources' elements
/// from `first` + i * `step` on, in the order of the sources, or adds it to its own. `to` may be in one of the sources. Where
/// `wire` is another type, what the sources have is rounded to it, and so is their combination. The same goes to where the `copies`
/// of `to` are: on a device whose ranks reach each other's memory.
struct Combination {
  Combine how;
  plan::Element element;
  std::span<const char *const> sources;
  uint64_t first, step, count, runs;
  char *to;
  bool add = false;
  plan::Element wire = element;
  std::span<char *const> copies = {}; // NOLINT(readability-redundant-member-init): it may be left out
};

/// `count` elements one behind the other, in another type.
struct Conversion {
  plan::Element element, other;
  const char *from;
  char *to;
  uint64_t count;
};

class Mover {
public:
  virtual ~Mover() = default;
  virtual void copy(const Copy &copy) = 0;
  virtual void combine(const Combination &combination) = 0;
  virtual void convert(const Conversion &conversion) = 0;
};

} // namespace xlc::runtime

#endif
