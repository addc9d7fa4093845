// Parses and validates a NumPy .npy file. Its elements stay in the file and are read on demand.
#ifndef XLC_LIB_RUNTIME_FILES_NPY_H
#define XLC_LIB_RUNTIME_FILES_NPY_H

#include "InputFile.h"
#include "StoredType.h"

#include <string_view>
#include <vector>

namespace xlc::runtime {

class NpyFile {
public:
  /// Opens `path` and reads its header. Throws Rejected with the name of the file and the error.
  explicit NpyFile(const std::string &path);

  const std::string &path() const { return file.path; }
  StoredType type;
  std::vector<uint64_t> shape;

  /// The file, and the offset of its elements.
  const InputFile &bytes() const { return file; }
  uint64_t begin() const { return elementsAt; }

private:
  void parse();
  void parseHeader(std::string_view header);

  InputFile file;
  uint64_t elementsAt = 0;
};

/// The header of a file with this type and shape, padded to a multiple of 64 bytes.
std::string makeNpyHeader(StoredType type, const std::vector<uint64_t> &shape);

} // namespace xlc::runtime

#endif
