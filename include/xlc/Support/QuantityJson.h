// Quantities in JSON: a plain number with all its digits, also beyond 64 bits, which nlohmann::json cannot represent.
// Until the text is written, such a number is a string with a mark that does not occur in the names of a report.
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

/// The integer that to_json wrote; none for any other value.
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

/// The text of a report: indented by two, with bytes that are not UTF-8 replaced.
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
