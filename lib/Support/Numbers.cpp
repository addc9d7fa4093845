// See Numbers.h.
#include "xlc/Support/Numbers.h"

#include "llvm/Support/FormatVariadic.h"

std::string xlc::groupDigits(Quantity number) {
  std::string digits = number.str();
  for (int64_t i = (int64_t)digits.size() - 3; i > 0; i -= 3)
    digits.insert(i, " ");
  return digits;
}

std::string xlc::pluralOf(int64_t count, llvm::StringRef noun) {
  return noun.str() + (count == 1 ? "" : noun.ends_with("ch") ? "es" : "s");
}

std::string xlc::formatCount(int64_t count, llvm::StringRef noun) {
  return std::to_string(count) + " " + pluralOf(count, noun);
}

std::string xlc::formatFlops(Quantity flops) {
  static constexpr llvm::StringLiteral prefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
  double amount(flops);
  size_t prefix = 0;
  for (; amount >= 1000 && prefix + 1 < std::size(prefixes); ++prefix)
    amount /= 1000;
  return llvm::formatv("{0:f2} {1}FLOP", amount, prefixes[prefix]);
}

std::string xlc::formatSeconds(double seconds) {
  static constexpr std::pair<double, llvm::StringLiteral> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (auto [unit, name] : units)
    if (seconds >= unit)
      return llvm::formatv("{0:f2} {1}", seconds / unit, name);
  bool isSeen = seconds >= 0.005e-6;
  return isSeen ? llvm::formatv("{0:f2} us", seconds / 1e-6).str() : "0 s";
}
