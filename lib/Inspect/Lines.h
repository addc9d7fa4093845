// Merges lines of a page that differ in one number only, as those of equal layers do.
#ifndef XLC_LIB_INSPECT_LINES_H
#define XLC_LIB_INSPECT_LINES_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <optional>

namespace xlc::inspection {

/// A text with one of its numbers removed: "h.*.ln_1.weight" and 3.
struct Pattern {
  std::string text;
  int64_t number;
};
inline std::optional<Pattern> findNumber(llvm::StringRef text) {
  size_t begin = text.find_first_of("0123456789");
  if (begin == llvm::StringRef::npos)
    return std::nullopt;
  llvm::StringRef digits = text.drop_front(begin).take_while(llvm::isDigit);
  int64_t number = 0;
  if (digits.getAsInteger(10, number))
    return std::nullopt;
  return Pattern{(text.take_front(begin) + "*" + text.drop_front(begin + digits.size())).str(), number};
}

/// Names with a key. Names with equal keys that differ in their first number only share a line.
class Lines {
public:
  void add(llvm::StringRef text, llvm::StringRef key, llvm::StringRef remark) {
    std::optional<Pattern> pattern = findNumber(text);
    Line &line = lines[(pattern ? pattern->text : text.str()) + '\n' + key.str()];
    if (line.count++ == 0)
      line.first = text.str(), line.key = key.str(), line.remark = remark.str(), line.pattern = pattern;
    if (line.remark != remark)
      line.remark = "the file or its reader" + std::string(remark.ends_with("guess") ? ", a guess" : "");
    line.last = pattern ? pattern->number : 0;
  }

  struct Line {
    std::string first, key, remark;
    std::optional<Pattern> pattern;
    int64_t last = 0, count = 0;

    /// "h.{0-11}.ln_1.weight".
    std::string text() const {
      if (count == 1 || !pattern)
        return first;
      std::string range = llvm::formatv("{{{0}-{1}}", pattern->number, last);
      auto [before, after] = llvm::StringRef(pattern->text).split('*');
      return (before + range + after).str();
    }
  };
  llvm::SmallVector<Line> all() const {
    return llvm::map_to_vector(lines, [](const auto &entry) { return entry.second; });
  }

private:
  llvm::MapVector<std::string, Line, std::map<std::string, unsigned>> lines;
};

} // namespace xlc::inspection

#endif
