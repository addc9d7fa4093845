// A NumPy .npy file, understood but not trusted. Its elements stay in the file and are read when they are needed.
#ifndef XLC_LIB_RUNTIME_FILES_NPY_H
#define XLC_LIB_RUNTIME_FILES_NPY_H

#include "InputFile.h"

#include <string_view>
#include <vector>

namespace xlc::runtime {

enum class NpyType { F32, F64, I32, I64, Bool };

class NpyFile {
public:
  /// Opens `path` and reads its header; throws Rejected, naming the file and what is wrong with it.
  explicit NpyFile(const std::string &path);

  const std::string &path() const { return file.path; }
  NpyType type;
  std::vector<uint64_t> shape;
  uint64_t elementBytes() const {
    return type == NpyType::F64 || type == NpyType::I64 ? 8 : type == NpyType::Bool ? 1 : 4;
  }

  /// Reads elements [from, from + count). Returns why that failed, or nothing.
  std::string tryRead(uint64_t from, uint64_t count, void *to) const {
    return file.tryRead(begin + from * elementBytes(), count * elementBytes(), to);
  }

private:
  void parse();
  void parseHeader(std::string_view header);

  InputFile file;
  uint64_t begin = 0; ///< of the elements, in the file
};

} // namespace xlc::runtime

#endif
