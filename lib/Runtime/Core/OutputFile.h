// The one way in which compiler and programs write a file that somebody will read: whole, or not at all.
//
//     model.safetensors           what is there stays until publish()
//     model.safetensors.k3XqT1    what is written: a new file (O_EXCL), synced, then renamed over the other
//
// A device, a pipe or a folder is never replaced. A link to a file stays a link: the file that it names is replaced.
#ifndef XLC_LIB_RUNTIME_CORE_OUTPUTFILE_H
#define XLC_LIB_RUNTIME_CORE_OUTPUTFILE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::runtime {

class OutputFile {
public:
  /// Creates the temporary file. Throws Rejected where `path` cannot become a file, as all other functions do.
  explicit OutputFile(const std::string &path);
  /// Removes the temporary file, unless it was published.
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;

  void write(const void *from, uint64_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Replaces bytes that were written already: a header that is known last.
  void rewrite(uint64_t at, std::string_view text);
  /// The file is complete: it takes the place of `path`.
  void publish();

private:
  void flush();

  const std::string path;
  std::string target, temporary;
  int file = -1;
  std::vector<char> buffer;
};

/// The file that writing to `path` would replace or make: `path`, or where a link leads. Throws Rejected where that is
/// no regular file, or a link to nothing.
std::string findOutputTarget(const std::string &path);

/// Has the file's bytes reach the disk. Throws Rejected; names `path` in the message.
void syncFile(int file, const std::string &path);

} // namespace xlc::runtime

#endif
