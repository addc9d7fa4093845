// See OptionValues.h.
#include "OptionValues.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace xlc::runtime {

template <class T> static bool parseNumber(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

uint64_t parseWhole(const char *option, const std::string &text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  if (!parseNumber(text, value) || value < least || value > most)
    throw CLI::ValidationError(option, fmt::format("'{}' is not an integer between {} and {}", text, least, most));
  return value;
}

double parseAmount(const char *option, const std::string &text) {
  double value = 0;
  if (!parseNumber(text, value) || !std::isfinite(value) || value < 0)
    throw CLI::ValidationError(option, fmt::format("'{}' must be a finite number >= 0", text));
  return value;
}

Fault parseFault(const std::string &text) {
  size_t first = text.find(':'), second = first == std::string::npos ? first : text.find(':', first + 1);
  Fault fault;
  if (second == std::string::npos || second + 1 == text.size() || !parseNumber(text.substr(0, first), fault.rank) ||
      !parseNumber(text.substr(first + 1, second - first - 1), fault.step) || fault.rank < 0 || fault.step < 1)
    throw CLI::ValidationError(
        "--inject-fault", fmt::format("'{}' does not have the form rank:step:action, for example 0:3:begin", text));
  fault.action = text.substr(second + 1);
  for (auto [end, number] : {std::pair<std::string_view, float>{"=inf", INFINITY}, {"=nan", NAN}})
    if (fault.action.ends_with(end)) {
      fault.action.resize(fault.action.size() - end.size());
      fault.number = number;
      break;
    }
  if (constexpr std::string_view end = "=flip"; fault.action.ends_with(end)) {
    fault.action.resize(fault.action.size() - end.size());
    fault.flips = true;
  }
  return fault;
}

void parseData(const char *option, const std::string &text, std::string &folder,
               std::map<std::string, std::string> &files) {
  if (text.find('=') == std::string::npos) {
    folder = text;
    return;
  }
  for (const std::string &entry : CLI::detail::split(text, ',')) {
    size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size())
      throw CLI::ValidationError(option, fmt::format("'{}' does not have the form name=path", entry));
    std::string name = entry.substr(0, equals);
    if (!files.emplace(name, entry.substr(equals + 1)).second)
      throw CLI::ValidationError(option, fmt::format("two files are given for input '{}'", name));
  }
}

} // namespace xlc::runtime
