// See StandardStreams.h. Each stream is opened for the opposite direction, so that its use is an error and not a
// success whose data are lost.
#include "StandardStreams.h"

#include "Messages.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace xlc::runtime {

void openStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1)
      continue;
    int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY); // gets the least number, this one
    if (opened < 0 && (opened = memfd_create("closed", MFD_ALLOW_SEALING)) >= 0)  // there is no /dev
      fcntl(opened, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW);
  }
}

void sayPlainly(std::string_view text) {
  while (!text.empty()) {
    ssize_t done = write(STDERR_FILENO, text.data(), text.size());
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return;
    text.remove_prefix((size_t)done);
  }
}

void say(const std::string &message) {
  MessageLimit limit;
  std::string text;
  for (size_t begin = 0, end; begin <= message.size(); begin = end + 1) {
    end = std::min(message.find('\n', begin), message.size());
    text += limit.take(std::string_view(message).substr(begin, end - begin));
  }
  std::fputs((text + limit.takeRest()).c_str(), stderr);
  std::fflush(stderr);
}

} // namespace xlc::runtime
