// stdin, stdout and stderr of a process, which its parent may have closed: then the next file that is opened would get
// their number, and take what is printed. Afterwards the numbers are taken, and writing to them fails as it did.
#ifndef XLC_LIB_RUNTIME_FILES_STANDARDSTREAMS_H
#define XLC_LIB_RUNTIME_FILES_STANDARDSTREAMS_H

#include <string>
#include <string_view>

namespace xlc::runtime {

/// Call it before anything is opened.
void openStandardStreams();

/// Prints a text as it is, without memory: where there is none.
void sayPlainly(std::string_view text);

/// Prints a message of one or more lines on stderr, limited as Messages.h says. If that cannot be written, nobody can
/// be told.
void say(const std::string &message);

} // namespace xlc::runtime

#endif
