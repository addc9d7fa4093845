// Reads whole tensors from safetensors files of other programs:
//
//     model.safetensors                                        one file
//     folder with model.safetensors.index.json                 several, as Hugging Face's models are: its "weight_map"
//     folder of shard-*.safetensors                            as torch.distributed.checkpoint writes them, each tensor
//                                                              in boxes, whose places are in "DCP_SHARDING_INFO"
//
// Checksums (Seal.h), if the file has any, are verified before elements of the tensor are used.
#ifndef XLC_LIB_RUNTIME_FILES_TENSORFILES_H
#define XLC_LIB_RUNTIME_FILES_TENSORFILES_H

#include "Device/DataSource.h"
#include "Safetensors.h"

#include <memory>
#include <mutex>
#include <set>

namespace xlc::runtime {

class TensorFiles {
public:
  /// Opens a file or a folder. Throws Rejected with the name of the file if a tensor has holes, is stored twice or has
  /// several types.
  explicit TensorFiles(std::string path);

  /// The part of a tensor in one file, stored row by row: elements [offsets, offsets + shape).
  struct Box {
    size_t file;
    uint64_t begin, bytes; ///< in the file
    std::vector<uint64_t> offsets, shape;
  };
  struct Tensor {
    std::string dtype;
    std::vector<uint64_t> shape;
    std::vector<Box> boxes; ///< which tile the tensor
  };

  const std::string path;
  const std::map<std::string, Tensor> &tensors() const { return all; }

  /// Passes elements [begin, begin + count) of a tensor to `take`, in its type, in parts. Throws Rejected. Any thread
  /// may call it.
  void read(const std::string &name, uint64_t begin, uint64_t count, const Take &take) const;

private:
  struct File {
    explicit File(const std::string &path) : reader(path), seal(reader.seal()) {}
    SafetensorsReader reader;
    std::optional<Seal> seal;
  };
  void open(const std::string &file);
  void openFolder();
  void openIndex(const std::string &index);
  void add(size_t file, const std::string &name, std::vector<uint64_t> offsets);
  void checkTiling(const std::string &name, const Tensor &tensor) const;
  void verify(const std::string &name, const Box &box) const;

  std::vector<std::unique_ptr<File>> files;
  std::map<std::string, Tensor> all;
  mutable std::mutex mutex;
  mutable std::set<std::pair<size_t, std::string>> verified;
};

} // namespace xlc::runtime

#endif
