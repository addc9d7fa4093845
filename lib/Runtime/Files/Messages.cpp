// See Messages.h. UTF-8 is validated as in RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#include "Messages.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlc::runtime {
namespace {

struct Character {
  char32_t code;
  size_t bytes; ///< 0: no UTF-8 begins here
};

Character decode(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? (unsigned char)text[i] : 0u; };
  unsigned first = byte(0);
  if (first < 0x80)
    return {first, 1};
  size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4)
    return {0, 0};
  char32_t code = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return {0, 0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isSurrogate = code >= 0xd800 && code < 0xe000;
  return code < least[length] || code > 0x10ffff || isSurrogate ? Character{0, 0} : Character{code, length};
}

/// Marks and embeddings of the Unicode bidirectional algorithm (UAX 9), and the separators that end a line.
bool turnsText(char32_t code) {
  return code == 0x61c || (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool isControl(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) || turnsText(code);
}

} // namespace

std::string escapeText(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    Character next = decode(text);
    if (next.bytes == 0)
      result += fmt::format("\\x{:02x}", (unsigned char)text[0]);
    else if (isControl(next.code))
      result += next.code < 0x80 ? fmt::format("\\x{:02x}", (unsigned)next.code)
                                 : fmt::format("\\u{:04x}", (unsigned)next.code);
    else
      result += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes ? next.bytes : 1);
  }
  return result;
}

std::string limitText(std::string_view text) {
  std::string result;
  for (bool isFirst = true; isFirst || !text.empty(); isFirst = false) {
    size_t end = std::min(text.find('\n'), text.size()), cut = std::min(end, mostLineBytes);
    while (cut < end && cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80) // not within a character
      --cut;
    std::string line = escapeText(text.substr(0, cut));
    if (line.size() > mostLineBytes) // escapes are longer than what they stand for
      line.resize(mostLineBytes);
    result += (isFirst ? "" : "\n") + line;
    if (cut < end)
      result += fmt::format("... ({} more bytes)", end - cut);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string MessageLimit::take(std::string_view line) {
  bool isError = line.find("error: ") != std::string_view::npos;
  if (isError && errors < mostErrors && bytes < mostMessageBytes)
    ++errors;
  else if (isError || hiddenErrors > 0 || bytes >= mostMessageBytes)
    return ++(isError ? hiddenErrors : hiddenLines), "";
  std::string text = limitText(line) + "\n";
  bytes += text.size();
  return text;
}

std::string MessageLimit::takeRest() {
  std::string text;
  if (hiddenErrors > 0)
    text = fmt::format("note: {} more error{} not shown\n", hiddenErrors, hiddenErrors == 1 ? " is" : "s are");
  else if (hiddenLines > 0)
    text = fmt::format("note: {} more line{} not shown\n", hiddenLines, hiddenLines == 1 ? " is" : "s are");
  hiddenErrors = hiddenLines = 0;
  return text;
}

} // namespace xlc::runtime
