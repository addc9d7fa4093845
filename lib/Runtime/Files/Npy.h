// A NumPy .npy file, understood but not trusted. Its elements stay in the file and are read when they are needed.
#ifndef XLC_LIB_RUNTIME_FILES_NPY_H
#define XLC_LIB_RUNTIME_FILES_NPY_H

#include "InputFile.h"
#include "StoredType.h"

#include <string_view>
#include <vector>

namespace xlc::runtime {

class NpyFile {
public:
  /// Opens `path` and reads its header; throws Rejected, naming the file and what is wrong with it.
  explicit NpyFile(const std::string &path);

  const std::string &path() const { return file.path; }
  StoredType type;
  std::vector<uint64_t> shape;

  /// The file, and where in it the elements begin.
  const InputFile &bytes() const { return file; }
  uint64_t begin() const { return elementsAt; }

private:
  void parse();
  void parseHeader(std::string_view header);

  InputFile file;
  uint64_t elementsAt = 0;
};

/// What stands before the elements in a file of this type and shape: a multiple of 64 bytes.
std::string makeNpyHeader(StoredType type, const std::vector<uint64_t> &shape);

} // namespace xlc::runtime

#endif
