// The operations that a fabric requires of a rank's device: copies and combinations of bytes in memory that the device
// can access, executed on the rank's own threads. A fabric knows the places of pieces and when they may be read, but
// not their contents.
#ifndef XLC_LIB_RUNTIME_FABRIC_MOVER_H
#define XLC_LIB_RUNTIME_FABRIC_MOVER_H

#include "Plan_generated.h"

#include <cstdint>
#include <span>

namespace xlc::runtime {

/// Copies runs of `bytes` bytes: run (o, r) of [outer, rows] begins o * `outer` + r * `row` bytes after the first.
/// Source and target are identical or disjoint.
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

/// Combines runs of `count` elements. The runs of `to` are contiguous. Run i receives the combination of the elements
/// of all sources from `first` + i * `step` on, in the order of the sources, or adds it to its own elements. `to` may
/// lie in one of the sources. If `wire` is a different type, the elements of the sources are rounded to it, and so is
/// their combination. The result is also written to the `copies` of `to`, on devices whose ranks access each other's
/// memory.
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

/// Converts `count` contiguous elements to another type.
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
