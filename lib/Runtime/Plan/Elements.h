// Types of elements: the bytes of an element, and reading and writing numbers of any type in memory. Also the types of
// values for which the plan states none.
#ifndef XLC_LIB_RUNTIME_PLAN_ELEMENTS_H
#define XLC_LIB_RUNTIME_PLAN_ELEMENTS_H

#include "Plan_generated.h"
#include "xlc/Runtime/StepNumbers.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace xlc::runtime {

uint64_t bytesOf(plan::Element element);

/// The bytes from the begin of a tensor's first element to the end of its last.
uint64_t spanOf(const plan::ViewT &view);

/// Whether ranks may sum such elements. Elements of sixteen bits are summed as floats and rounded once.
inline bool hasSum(plan::Element element) { return element <= plan::Element::MAX && element != plan::Element::I1; }

/// The name in safetensors files.
const char *nameOf(plan::Element element);
/// The element with such a name; none if no plan uses it.
std::optional<plan::Element> findElement(std::string_view name);

inline bool isFloat(plan::Element element) {
  return element != plan::Element::I1 && element != plan::Element::I32 && element != plan::Element::I64;
}

inline bool isInteger(plan::Element element) { return element == plan::Element::I32 || element == plan::Element::I64; }

inline bool isNarrow(plan::Element element) { return element == plan::Element::BF16 || element == plan::Element::F16; }

/// The type of learning rates and corrections, loss and gradient norm.
inline constexpr plan::Element scalarElement = plan::Element::F32;
/// The type of a number of a step.
inline plan::Element elementOf(NumberType type) {
  return type == NumberType::F32 ? plan::Element::F32 : plan::Element::I64;
}

/// Whether products and attention support such elements.
inline bool hasProducts(plan::Element element) {
  return element == plan::Element::F32 || element == plan::Element::BF16 || element == plan::Element::F16;
}
/// The type of the logarithms of sums that attention keeps for backward.
inline constexpr plan::Element sumElement = plan::Element::F64;

/// Writes `value` as element `index` of `elements`, rounded to its type; types of sixteen bits are rounded through a
/// float.
void putNumber(plan::Element element, double value, void *elements, uint64_t index = 0);

/// Element `index` of `elements`.
double getNumber(plan::Element element, const void *elements, uint64_t index = 0);

/// Converts `count` elements to another type.
std::vector<char> convert(plan::Element from, const void *elements, uint64_t count, plan::Element to);

} // namespace xlc::runtime

#endif
