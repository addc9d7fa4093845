// Files of named tensors: eight bytes of header length, a JSON header, the elements.
// https://github.com/huggingface/safetensors. The compiler uses them to read state dicts and to write initial
// parameters. A program reads the latter and writes its trained parameters.
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
  /// Opens and checks `path`. Throws Rejected.
  explicit SafetensorsReader(const std::string &path);

  const std::string &path() const { return file.path; }
  const std::map<std::string, StoredTensor> &tensors() const { return header.tensors; }
  /// The metadata of the file, by their keys.
  const std::map<std::string, std::string> &metadata() const { return header.metadata; }

  /// The size of the file, and the digits of a checksum of all bytes before its data.
  uint64_t size() const { return file.size(); }
  std::string headerDigits() const;

  /// Reads bytes [from, from + count) of the file. Any thread may call it.
  void read(uint64_t from, uint64_t count, void *to) const { file.read(from, count, to); }

  /// The seal of the file, if it has one. Throws Rejected if the seal is damaged.
  std::optional<Seal> seal() const;

  /// Throws Rejected with the name of the file.
  [[noreturn]] void reject(const std::string &why) const { file.reject(why); }

private:
  InputFile file;
  uint64_t dataBegin = 0;
  SafetensorsHeader header;
};

/// Writes contiguous tensors with their seal.
class SafetensorsWriter {
public:
  /// The caller must publish `file`.
  SafetensorsWriter(OutputFile &file, std::vector<TensorForm> tensors, BlockSeals blocks = BlockSeals::Without);

  /// Writes the next bytes of the elements of all tensors.
  void write(const void *from, uint64_t count);
  /// Call after all elements: writes the header and returns it.
  std::string finish();
  /// After finish: the digest of the values.
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
  std::string ofBlocks; ///< digits of the written blocks of the tensor
  uint64_t inBlock = 0; ///< bytes in the current block
  size_t tensor = 0;    ///< index of the current tensor
  uint64_t left = 0;    ///< its missing bytes
};

/// A tensor to be written: `fill` writes elements [begin, begin + count) to `to`.
struct TensorToStore {
  TensorForm form;
  std::function<void(uint64_t begin, uint64_t count, void *to)> fill;
};

/// Writes tensors in the given order; `path` is complete or unchanged. Throws Rejected.
void writeSafetensors(const std::string &path, const std::vector<TensorToStore> &tensors,
                      BlockSeals blocks = BlockSeals::Without);

} // namespace xlc::runtime

#endif
