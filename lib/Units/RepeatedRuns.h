// The repetition in a sequence, and the names of units that follow from it. A plain algorithm.
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
/// their first instance, "embed" before, "middle", "middle2" ... between, "head" after; "model" where nothing repeats.
/// The heaviest repetition is found first (ties: the earliest, then the shortest period); whatever else in the sequence
/// equals its period is an instance as well.
std::vector<UnitName> nameUnits(const std::vector<RunElement> &elements);

/// Names where nothing repeats and several units are needed: each element with parameters begins one, "block", "block2" ...;
/// the others belong to the one before, or to the first. Of many, equal numbers are joined.
std::vector<UnitName> nameBlocks(const std::vector<RunElement> &elements);

} // namespace xlc

#endif
