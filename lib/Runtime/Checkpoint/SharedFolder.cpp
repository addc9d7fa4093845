// See SharedFolder.h.
#include "SharedFolder.h"

#include "Failure.h"
#include "Files/InputFile.h"
#include "Files/OutputFile.h"

#include <fmt/format.h>

#include <random>

namespace xlc::runtime {
namespace {

std::string pathOf(const std::string &dir) { return dir + "/.same"; }

std::string textOf(uint64_t number) { return fmt::format("{:016x}\n", number); }

/// The first bytes of a file; none where it cannot be read.
std::string readStart(const std::string &path, uint64_t bytes) {
  try {
    InputFile file(path);
    std::string text(bytes, '\0');
    file.read(0, bytes, text.data());
    return text;
  } catch (const Rejected &) {
    return "";
  }
}

} // namespace

uint64_t markFolder(const std::string &dir) {
  std::random_device dice;
  uint64_t number = ((uint64_t)dice() << 32 | dice()) | 1;
  OutputFile file(pathOf(dir));
  file.write(textOf(number));
  file.publish();
  return number;
}

void checkMark(const std::string &dir, uint64_t number) {
  if (std::string says = textOf(number); readStart(pathOf(dir), says.size()) != says)
    throw Rejected(
        fmt::format("{}: error: is not the same folder on this host and on the host of rank 0: all hosts must "
                    "share the folder of checkpoints",
                    dir));
}

} // namespace xlc::runtime
