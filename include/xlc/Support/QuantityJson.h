// Quantities in JSON: a plain number with all its digits, also beyond 64 bits, where nlohmann::json has no number.
// Until the text is there such a one is a string with a mark that no name in a report has.
#ifndef XLC_SUPPORT_QUANTITYJSON_H
#define XLC_SUPPORT_QUANTITYJSON_H

#include "xlc/Support/Quantity.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace xlc {

inline constexpr char kQuantityMark[] = "\x01quantity:";

// NOLINTNEXTLINE(readability-identifier-naming): the library looks for this name
inline void to_json(nlohmann::ordered_json &json, const Quantity &quantity) {
  if (quantity.fitsInt64())
    json = quantity.clamp();
  else
    json = kQuantityMark + quantity.str();
}

/// A whole number as to_json has made it; none: another value.
inline std::optional<Quantity> readQuantity(const nlohmann::ordered_json &json) {
  if (json.is_number_integer())
    return Quantity(json.get<int64_t>());
  std::string text = json.is_string() ? json.get<std::string>() : "";
  if (!text.starts_with(kQuantityMark))
    return std::nullopt;
  Quantity quantity;
  for (char digit : text.substr(sizeof(kQuantityMark) - 1))
    quantity = quantity * 10 + Quantity(digit - '0');
  return quantity;
}

/// The text of a report: indented by two, bytes that are no UTF-8 replaced.
inline std::string dumpReport(const nlohmann::ordered_json &json) {
  std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const std::string mark = "\"\\u0001" + std::string(kQuantityMark + 1);
  for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    text.erase(at, mark.size());
    text.erase(text.find('"', at), 1);
  }
  return text;
}

} // namespace xlc

#endif
