// Files of named tensors: eight bytes of header length, a JSON header, the elements.
// https://github.com/huggingface/safetensors. The compiler reads state dicts and writes initial parameters with them, a
// program reads the latter and writes what it has learned.
#ifndef XLC_LIB_RUNTIME_FILES_SAFETENSORS_H
#define XLC_LIB_RUNTIME_FILES_SAFETENSORS_H

#include "Checksum.h"
#include "InputFile.h"
#include "OutputFile.h"
#include "Seal.h"

#include <functional>

namespace xlc::runtime {

class SafetensorsReader {
public:
  /// Opens and checks `path`; throws Rejected.
  explicit SafetensorsReader(const std::string &path);

  const std::string &path() const { return file.path; }
  const std::map<std::string, StoredTensor> &tensors() const { return header.tensors; }
  /// Texts that the file says of itself, by their keys.
  const std::map<std::string, std::string> &metadata() const { return header.metadata; }

  /// Bytes of the file, and the digits of a checksum of all before its data.
  uint64_t size() const { return file.size(); }
  std::string headerDigits() const;

  /// Reads bytes [from, from + count) of the file. Any thread may call it.
  void read(uint64_t from, uint64_t count, void *to) const { file.read(from, count, to); }

  /// What the file says of itself, if it does; throws Rejected where that is damaged.
  std::optional<Seal> seal() const;

  /// Throws Rejected, naming the file.
  [[noreturn]] void reject(const std::string &why) const { file.reject(why); }

private:
  InputFile file;
  uint64_t dataBegin = 0;
  SafetensorsHeader header;
};

/// Writes tensors, one behind the other, with their seal.
class SafetensorsWriter {
public:
  /// The caller publishes `file`.
  SafetensorsWriter(OutputFile &file, std::vector<TensorForm> tensors, BlockSeals blocks = BlockSeals::Without);

  /// The next bytes of the elements of all tensors.
  void write(const void *from, uint64_t count);
  /// All elements are written: the header follows. Returns it.
  std::string finish();
  /// Then: of the values.
  std::string digest() const { return seal.digest(); }

private:
  void endTensors();
  void addToBlocks(const char *from, uint64_t count);
  void endBlock();

  OutputFile &file;
  const std::vector<TensorForm> tensors;
  const BlockSeals blocks;
  Seal seal;
  Checksum checksum, block;
  std::string ofBlocks; ///< digits of the tensor's blocks that are written
  uint64_t inBlock = 0; ///< bytes of the block that is being written
  size_t tensor = 0;    ///< that is being written
  uint64_t left = 0;    ///< bytes of it that are missing
};

/// A tensor to be written: `fill` puts elements [begin, begin + count) in `to`.
struct TensorToStore {
  TensorForm form;
  std::function<void(uint64_t begin, uint64_t count, void *to)> fill;
};

/// Writes tensors in the given order; `path` is whole or untouched. Throws Rejected.
void writeSafetensors(const std::string &path, const std::vector<TensorToStore> &tensors,
                      BlockSeals blocks = BlockSeals::Without);

} // namespace xlc::runtime

#endif
