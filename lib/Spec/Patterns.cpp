// Shell-like patterns over parameter names, in time linear in practice and quadratic at worst.
#include "xlc/Spec/Spec.h"

using namespace llvm;

namespace xlc {
namespace {

/// Only the last `*` needs to be tried again: an earlier one that took less can be mimicked by it.
bool matches(StringRef name, StringRef pattern) {
  size_t n = 0, p = 0, lastStar = StringRef::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      lastStar = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (lastStar != StringRef::npos) {
      p = lastStar + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).ltrim('*').empty();
}

} // namespace

bool matchesPatterns(StringRef name, const std::vector<std::string> &patterns) {
  for (auto it = patterns.rbegin(); it != patterns.rend(); ++it) {
    StringRef pattern = *it;
    bool excludes = pattern.consume_front("!");
    if (matches(name, pattern))
      return !excludes;
  }
  return false;
}

} // namespace xlc
