// Finds the repetition in a sequence, and derives the names of units from it. A plain algorithm.
#ifndef XLC_LIB_UNITS_REPEATEDRUNS_H
#define XLC_LIB_UNITS_REPEATEDRUNS_H

#include <cstdint>
#include <string>
#include <vector>

namespace xlc {

/// One element of the sequence: equal numbers are equal structures.
struct RunElement {
  int structure;
  int64_t weight;    ///< what covering it is worth
  bool hasParameter; ///< a period without any is not a layer
};

struct UnitName {
  std::string className;
  int64_t instance = 0;
  bool isRepeated = false; ///< of a class that has several instances
  bool operator==(const UnitName &) const = default;
};

/// Names each element's unit: "layer" for the instances of a repetition, "layer2" ... for further ones in the order of
/// their first instance, "embed" before, "middle", "middle2" ... between, "head" after; "model" if nothing repeats. The
/// heaviest repetition is found first (ties: the earliest, then the shortest period); other elements of the sequence
/// that equal its period are instances as well.
std::vector<UnitName> nameUnits(const std::vector<RunElement> &elements);

/// Names units if nothing repeats and several are needed: each element with parameters begins one, "block", "block2"
/// ...; the others belong to the previous one, or to the first. If there are many, equal numbers of elements are
/// joined.
std::vector<UnitName> nameBlocks(const std::vector<RunElement> &elements);

} // namespace xlc

#endif
