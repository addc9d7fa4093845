// Checks elements of a data file against the requirements of an input, and converts them to its type.
#ifndef XLC_LIB_RUNTIME_DATA_STOREDELEMENTS_H
#define XLC_LIB_RUNTIME_DATA_STOREDELEMENTS_H

#include "Files/StoredType.h"
#include "Plan/Plan.h"

#include <optional>
#include <string>

namespace xlc::runtime {

/// Whether elements of a file equal those of the input, bit for bit. A file may represent true by values other than 1.
bool isStoredAs(StoredType type, plan::Element element);

/// Converts `count` elements of a file to elements of an input: the same numbers if its type can represent them.
void convertStored(StoredType type, const char *from, uint64_t count, plan::Element element, char *to);

/// The first of `count` elements that is not a number, or `count`.
uint64_t findNaN(StoredType type, const char *elements, uint64_t count);

/// The requirement on ids: they index the table of their input or are the ignored id, and fit its type.
class IdRule {
public:
  IdRule(const plan::InputT &input, StoredType type);

  bool isNeeded() const { return isRead; }
  /// The first of `count` elements that breaks the rule, or `count`.
  uint64_t findBad(const char *elements, uint64_t count) const;
  /// A message about the invalid element at `index` of `elements`.
  std::string describe(const char *elements, uint64_t index) const;

private:
  template <class Id> uint64_t find(const char *elements, uint64_t count) const;
  int64_t idAt(const char *elements, uint64_t index) const;

  const plan::InputT &input;
  const StoredType type;
  bool isRead;
  int64_t first = INT64_MIN, last = INT64_MAX; ///< the allowed range
  std::optional<int64_t> ignored;              ///< allowed as well
};

} // namespace xlc::runtime

#endif
