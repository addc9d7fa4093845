// What compiler and programs say about a user's files. Names and values in it come from these files, which may be
// hostile: nothing that a terminal obeys may reach it, and no file may flood it.
#ifndef XLC_LIB_RUNTIME_FILES_MESSAGES_H
#define XLC_LIB_RUNTIME_FILES_MESSAGES_H

#include <cstddef>
#include <string>
#include <string_view>

namespace xlc::runtime {

/// The longest line of a message in bytes, the most errors, and the most bytes of all messages.
constexpr size_t mostLineBytes = 3584, mostErrors = 100, mostMessageBytes = 64 << 10;

/// `text` with control characters (C0 but line breaks and tabs, DEL, C1), what turns the direction of writing, and
/// bytes that are no UTF-8 as escapes: "\x1b", "\u202e", "\xff".
std::string escapeText(std::string_view text);

/// escapeText, and lines cut at mostLineBytes.
std::string limitText(std::string_view text);

/// Lets through the lines of messages until there are too many of them. One for each process.
class MessageLimit {
public:
  /// What of `line` (without its end) is to be printed, with its end; empty where there were too many.
  std::string take(std::string_view line);
  /// What is to be said at the end: how much was not printed.
  std::string takeRest();

private:
  size_t errors = 0, bytes = 0, hiddenErrors = 0, hiddenLines = 0;
};

} // namespace xlc::runtime

#endif
