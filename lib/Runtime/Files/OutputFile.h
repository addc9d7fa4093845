// Writes a file completely or not at all. Compiler and programs write all files that others read in this way.
//
//     model.safetensors           the existing file is unchanged until publish()
//     model.safetensors.k3XqT1    the new contents: a new file (O_EXCL), synced, then renamed over the other
//
// A device, a pipe or a folder is never replaced; a report may be written to a device or a pipe. A symbolic link is
// kept: its target is replaced.
#ifndef XLC_LIB_RUNTIME_FILES_OUTPUTFILE_H
#define XLC_LIB_RUNTIME_FILES_OUTPUTFILE_H

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::runtime {

/// The handling of an output that is a device or a pipe: results must be files, reports may be written to either.
enum class Devices { Refused, WrittenTo };

class OutputFile {
public:
  /// Creates the temporary file, or opens the device or pipe. Like all other functions, throws Rejected if `path`
  /// cannot be written.
  explicit OutputFile(const std::string &path, Devices devices = Devices::Refused);
  /// Removes the temporary file, unless it was published.
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;

  void write(const void *from, uint64_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Replaces bytes that were already written, such as a header that is known last.
  void rewrite(uint64_t at, std::string_view text);
  /// Makes all written bytes readable in the file.
  void flush();
  /// Call before the first write, for a large file that is written beside other work: blocks of 2 MiB bypass the page
  /// cache (O_DIRECT), if the file system supports this. The processors then copy each byte once, and other files keep
  /// their pages. While `isAwaited` is set, the file is written to the page cache instead: its source is read at the
  /// speed of memory, and the disk starts in publish().
  void bypassCache(const std::atomic<bool> &isAwaited);
  /// Grants the permission to execute wherever there is the permission to read.
  void allowExecution();
  /// The file is complete: it takes the place of `path`.
  void publish() { publishTogether({this}); }
  /// The same for files that belong together. All are on the disk before the first is renamed. If two processes publish
  /// the same files at once, all files are those of the later one.
  static void publishTogether(const std::vector<OutputFile *> &files);

  const std::string path; ///< as given by the user

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  void allocate(size_t bytes);
  void put(const char *from, uint64_t count);
  void putBuffer();
  bool setDirect(bool on);

  std::string target, temporary; ///< with a slash, so that a program that writes it does not parse it as an option
  bool isDevice = false, startsDisk = true; ///< the second: of a large file, before it is complete
  int file = -1;
  std::unique_ptr<char, Free> buffer;           ///< aligned as O_DIRECT requires
  size_t room = 0, filled = 0;                  ///< bytes of the buffer
  const std::atomic<bool> *isAwaited = nullptr; ///< of bypassCache, until the rest of the file is written to the cache
  bool isDirect = false;                        ///< the descriptor bypasses the page cache
  uint64_t written = 0, begun = 0;              ///< bytes; those whose write to the disk was started
};

/// The file that writing to `path` would replace or create: `path`, or the target of a link. Throws Rejected if it is a
/// folder, a link without a target, or a device or pipe that is refused.
std::string findOutputTarget(const std::string &path, Devices devices = Devices::Refused);

/// For the handler of a signal that ends the process: removes the temporary files that are not published.
void removeTemporaryFiles();

} // namespace xlc::runtime

#endif
