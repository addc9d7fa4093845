// Files of tokens: the first 32 bits say how many of the bytes behind them are X.bin, what follows is X.idx, if
// there is something. No crash, no hang, no undefined behaviour; a refusal is Rejected; of what is accepted all
// tokens can be read, and all of X.bin is tokens or header.
#include "Require.h"

#include "Data/TokenFiles.h"
#include "Failure.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace xlc::runtime;

namespace {

/// A folder of the process, in memory where there is such a place.
std::string makeFolder() {
  std::string name = std::filesystem::exists("/dev/shm") ? "/dev/shm/xlc-tokens-XXXXXX" : "/tmp/xlc-tokens-XXXXXX";
  return mkdtemp(name.data());
}

void write(const std::string &path, const char *from, size_t count) {
  std::ofstream(path, std::ios::binary).write(from, (std::streamsize)count);
}

void check(const std::string &path, size_t size, xlc::plan::TokenType type) {
  try {
    const TokenFile file = openTokens(path, type, Scan::All);
    xlc::fuzz::require(file.tokens <= (size - file.begin) / bytesOf(file.type), "all tokens are in the file");
    std::string tokens(file.tokens * bytesOf(file.type), '\0');
    xlc::fuzz::require(file.bytes().tryRead(file.begin, tokens.size(), tokens.data()).empty(), "tokens can be read");
    xlc::fuzz::require(file.begin + tokens.size() == size, "tokens end the file");
  } catch (const Rejected &) {
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string folder = makeFolder();
  uint32_t length = 0;
  if (size < sizeof length)
    return 0;
  std::memcpy(&length, data, sizeof length);
  data += sizeof length, size -= sizeof length;
  size_t first = std::min<size_t>(length, size);
  std::string binary = folder + "/x.bin", index = folder + "/x.idx";
  write(binary, (const char *)data, first);
  std::filesystem::remove(index);
  if (first < size)
    write(index, (const char *)data + first, size - first);
  for (auto type : {xlc::plan::TokenType::Auto, xlc::plan::TokenType::U16})
    check(binary, first, type);
  return 0;
}
