// One table of units; both directions read it.
#include "xlc/Support/Bytes.h"

#include <cmath>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace xlc {
namespace {

struct Unit {
  StringRef name;
  double bytes;
  bool printed; ///< formatBytes uses it
};

constexpr double kibi = 1024;
constexpr Unit units[] = {
    {"TiB", kibi * kibi * kibi * kibi, true},
    {"GiB", kibi * kibi * kibi, true},
    {"MiB", kibi * kibi, true},
    {"KiB", kibi, true},
    {"TB", 1e12, false},
    {"GB", 1e9, false},
    {"MB", 1e6, false},
    {"kB", 1e3, false},
    {"KB", 1e3, false},
    {"B", 1, true},
};

std::nullopt_t refuseSize(std::string *reason, const Twine &why) {
  if (reason)
    *reason = why.str();
  return std::nullopt;
}

} // namespace

StringRef byteUnits() { return "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"; }

std::optional<int64_t> parseBytes(StringRef text, std::string *reason) {
  StringRef digits = text.take_while([](char c) { return isDigit(c) || c == '.'; });
  StringRef unitName = text.drop_front(digits.size()).ltrim(' ');
  double number = 0;
  if (digits.empty() || digits.getAsDouble(number))
    return refuseSize(reason, "a size must be a number and a unit, for example 25MiB");
  if (unitName.empty())
    return refuseSize(reason, "a size in bytes needs a unit, for example 25MiB");
  for (const Unit &unit : units) {
    if (unit.name != unitName)
      continue;
    double bytes = std::round(number * unit.bytes);
    if (!(bytes < 0x1p63))
      return refuseSize(reason, "it does not fit into 64 bits");
    return static_cast<int64_t>(bytes);
  }
  return refuseSize(reason, "the unit must be one of " + byteUnits());
}

std::string formatBytes(Quantity bytes) {
  std::string result;
  raw_string_ostream out(result);
  for (const Unit &unit : units) {
    if (!unit.printed || (std::fabs(double(bytes)) < unit.bytes && unit.bytes > 1))
      continue;
    double amount = double(bytes) / unit.bytes;
    out << format(amount == std::floor(amount) ? "%.0f " : "%.2f ", amount) << unit.name;
    break;
  }
  return result;
}

} // namespace xlc
