// Sanitizes messages about a user's files. Such messages contain names and values of these files, which may be hostile:
// no control sequence may reach the terminal, and no file may flood it.
#ifndef XLC_LIB_RUNTIME_FILES_MESSAGES_H
#define XLC_LIB_RUNTIME_FILES_MESSAGES_H

#include <cstddef>
#include <string>
#include <string_view>

namespace xlc::runtime {

/// Limits: the bytes of a line, the number of errors, and the bytes of all messages.
constexpr size_t mostLineBytes = 3584, mostErrors = 100, mostMessageBytes = 64 << 10;

/// Returns `text` with control characters (C0 except line breaks and tabs, DEL, C1), characters that change the
/// direction of writing, and bytes that are not UTF-8 replaced by escapes: "\x1b", "\u202e", "\xff".
std::string escapeText(std::string_view text);

/// escapeText, with lines cut at mostLineBytes.
std::string limitText(std::string_view text);

/// Passes the lines of messages through until there are too many. One for each process.
class MessageLimit {
public:
  /// The part of `line` (without its line break) to print, with a line break; empty if the limit is reached.
  std::string take(std::string_view line);
  /// The final message: the amount of text that was not printed.
  std::string takeRest();

private:
  size_t errors = 0, bytes = 0, hiddenErrors = 0, hiddenLines = 0;
};

} // namespace xlc::runtime

#endif
