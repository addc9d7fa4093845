// The one way in which compiler and programs write a file that somebody will read: whole, or not at all.
//
//     model.safetensors           what is there stays until publish()
//     model.safetensors.k3XqT1    what is written: a new file (O_EXCL), synced, then renamed over the other
//
// A device, a pipe or a folder is never replaced; a report may be written to a device or a pipe. A link to a file stays
// a link: the file that it names is replaced.
#ifndef XLC_LIB_RUNTIME_FILES_OUTPUTFILE_H
#define XLC_LIB_RUNTIME_FILES_OUTPUTFILE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlc::runtime {

/// What becomes of an output that is a device or a pipe: results are files, reports may go anywhere.
enum class Devices { Refused, WrittenTo };

class OutputFile {
public:
  /// Creates the temporary file, or opens the device or pipe. Throws Rejected where `path` cannot be written, as all
  /// other functions do.
  explicit OutputFile(const std::string &path, Devices devices = Devices::Refused);
  /// Removes the temporary file, unless it was published.
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;

  void write(const void *from, uint64_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Replaces bytes that were written already: a header that is known last.
  void rewrite(uint64_t at, std::string_view text);
  /// What was written can be read there.
  void flush();
  /// Who may read the file may also run it.
  void allowExecution();
  /// The file is complete: it takes the place of `path`.
  void publish() { publishTogether({this}); }
  /// The same for files that belong together: all are on the disk before the first takes its place, and of two
  /// processes that publish the same files at once the later one has all of them.
  static void publishTogether(const std::vector<OutputFile *> &files);

  const std::string path; ///< as the user gave it

private:
  void put(const char *from, uint64_t count);

  std::string target, temporary; ///< with a slash: neither is taken for an option of a program that writes it
  bool isDevice = false;
  int file = -1;
  std::vector<char> buffer;
  uint64_t written = 0, begun = 0; ///< bytes; those that the disk was asked to begin with
};

/// The file that writing to `path` would replace or make: `path`, or where a link leads. Throws Rejected where that is
/// a folder, a link to nothing, or a device or pipe that is refused.
std::string findOutputTarget(const std::string &path, Devices devices = Devices::Refused);

/// For the handler of a signal that ends the process: removes the temporary files of those that are not published.
void removeTemporaryFiles();

} // namespace xlc::runtime

#endif
