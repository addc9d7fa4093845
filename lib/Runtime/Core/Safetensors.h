// Files of named tensors: eight bytes of header length, a JSON header, the elements.
// https://github.com/huggingface/safetensors. Read with pread, so that the file's pages are not the program's. The
// compiler reads state dicts with it, too.
#ifndef XLC_LIB_RUNTIME_CORE_SAFETENSORS_H
#define XLC_LIB_RUNTIME_CORE_SAFETENSORS_H

#include "Failure.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace xlc::runtime {

struct StoredTensor {
  std::string dtype; ///< as the file spells it: "F32"
  std::vector<uint64_t> shape;
  uint64_t begin, bytes; ///< of its elements, in the file
};

class SafetensorsReader {
public:
  /// Opens and checks `path`; throws Rejected.
  explicit SafetensorsReader(const std::string &path);
  ~SafetensorsReader();
  SafetensorsReader(const SafetensorsReader &) = delete;

  const std::string path;
  const std::map<std::string, StoredTensor> &tensors() const { return all; }

  /// Reads bytes [from, from + count) of the file. Any thread may call it.
  void read(uint64_t from, uint64_t count, void *to) const;

private:
  void readHeader(uint64_t size);
  void checkOverlaps() const;

  int file;
  std::map<std::string, StoredTensor> all;
};

/// A tensor to be written: `fill` puts elements [begin, begin + count) in `to`.
struct TensorToStore {
  std::string name;
  std::vector<uint64_t> shape;
  std::function<void(uint64_t begin, uint64_t count, float *to)> fill;
};

/// Writes F32 tensors in the given order to a temporary file beside `path`, then renames it: `path` is whole or
/// untouched. Throws Rejected.
void writeSafetensors(const std::string &path, const std::vector<TensorToStore> &tensors);

} // namespace xlc::runtime

#endif
