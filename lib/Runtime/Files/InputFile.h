// Reads files with pread. A file that becomes shorter while it is read therefore gives an error and not a signal, which
// would end the process if the file were mapped, and its pages are not counted as memory of the program. Files that are
// not regular are rejected. Opening never blocks: a pipe without a writer would block it forever. The compiler also
// uses it to read state dicts.
#ifndef XLC_LIB_RUNTIME_FILES_INPUTFILE_H
#define XLC_LIB_RUNTIME_FILES_INPUTFILE_H

#include <cstdint>
#include <string>

namespace xlc::runtime {

class InputFile {
public:
  /// Opens `path`. Throws Rejected with the path.
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;

  const std::string path;
  uint64_t size() const { return bytes; } ///< the size at the time of opening

  /// Reads bytes [from, from + count) of the file. Returns the reason of a failure, or nothing. Any thread may call it.
  /// `done`: the number of bytes that were read, all or up to the first unreadable one.
  std::string tryRead(uint64_t from, uint64_t count, void *to, uint64_t *done = nullptr) const;
  /// The same; throws Rejected.
  void read(uint64_t from, uint64_t count, void *to) const;

  /// Throws Rejected with the name of the file.
  [[noreturn]] void reject(const std::string &why) const;

private:
  int file;
  uint64_t bytes = 0;
};

} // namespace xlc::runtime

#endif
