// Opens stdin, stdout and stderr of a process if its parent has closed them. Otherwise the next opened file would get
// their number and receive the printed text. Afterwards the numbers are in use, and writing to them fails as before.
#ifndef XLC_LIB_RUNTIME_FILES_STANDARDSTREAMS_H
#define XLC_LIB_RUNTIME_FILES_STANDARDSTREAMS_H

#include <string>
#include <string_view>

namespace xlc::runtime {

/// Call before any file is opened.
void openStandardStreams();

/// Prints a text unchanged, without allocating memory, for use when memory is exhausted.
void sayPlainly(std::string_view text);

/// Prints a message of one or more lines to stderr, limited as described in Messages.h. If that fails, the error is
/// ignored.
void say(const std::string &message);

} // namespace xlc::runtime

#endif
