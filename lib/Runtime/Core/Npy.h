// A NumPy .npy file, memory-mapped and understood, but not trusted.
#ifndef XLC_LIB_RUNTIME_CORE_NPY_H
#define XLC_LIB_RUNTIME_CORE_NPY_H

#include "Failure.h"

#include <cstdint>
#include <string>
#include <vector>

namespace xlc::runtime {

enum class NpyType { F32, F64, I32, I64 };

class NpyFile {
public:
  /// Maps `path`; throws Rejected, naming the file and what is wrong with it.
  explicit NpyFile(const std::string &path);
  ~NpyFile();
  NpyFile(const NpyFile &) = delete;

  const std::string path;
  NpyType type;
  std::vector<uint64_t> shape;
  const char *elements; ///< may be unaligned
  uint64_t elementBytes() const { return type == NpyType::F64 || type == NpyType::I64 ? 8 : 4; }

  /// Gives back the pages read so far; they come again when read again.
  void dropPages() const;

private:
  void parse(const char *bytes, uint64_t size);
  void parseHeader(std::string_view header);
  [[noreturn]] void reject(const std::string &why) const;

  void *mapping = nullptr;
  uint64_t mapped = 0;
};

} // namespace xlc::runtime

#endif
