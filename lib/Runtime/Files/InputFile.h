// One way to read a file: with pread, so that a file which becomes shorter while it is read is an answer and not a
// signal (a mapped one ends the process), and its pages are not the program's. What is no regular file is refused, and
// opening never waits: a pipe without a writer would hold it for ever. The compiler reads state dicts with it, too.
#ifndef XLC_LIB_RUNTIME_FILES_INPUTFILE_H
#define XLC_LIB_RUNTIME_FILES_INPUTFILE_H

#include <cstdint>
#include <string>

namespace xlc::runtime {

class InputFile {
public:
  /// Opens `path`; throws Rejected, naming it.
  explicit InputFile(const std::string &path);
  ~InputFile();
  InputFile(const InputFile &) = delete;

  const std::string path;
  uint64_t size() const { return bytes; } ///< when it was opened

  /// Reads bytes [from, from + count) of the file. Returns why that failed, or nothing. Any thread may call it. `done`:
  /// how many bytes were read, all or up to the first that could not be.
  std::string tryRead(uint64_t from, uint64_t count, void *to, uint64_t *done = nullptr) const;
  /// The same; throws Rejected.
  void read(uint64_t from, uint64_t count, void *to) const;

  /// Throws Rejected, naming the file.
  [[noreturn]] void reject(const std::string &why) const;

private:
  int file;
  uint64_t bytes = 0;
};

} // namespace xlc::runtime

#endif
