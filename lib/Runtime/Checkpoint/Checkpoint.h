// Reads a checkpoint: its manifest, its files, and elements of its tensors. Each block is verified before it is used.
// The chain is manifest, header, block: one flipped bit anywhere is found.
#ifndef XLC_LIB_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define XLC_LIB_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "Device/DataSource.h"
#include "Files/Safetensors.h"
#include "Manifest.h"

namespace xlc::runtime {

/// Describes damage to a checkpoint, with the name of the file.
struct Damaged : Rejected {
  using Rejected::Rejected;
};

class Checkpoint {
public:
  /// Opens `folder`: the manifest and the headers of all files. Throws Damaged if one is missing or does not match the
  /// manifest.
  explicit Checkpoint(const std::string &folder);

  const std::string folder;
  const Manifest &manifest() const { return said; }

  /// The tensor of a kind and a name; null if there is none.
  const SavedTensor *find(std::string_view kind, const std::string &name) const;
  /// The parameter or buffer of a name. Files of other programs do not state which of the two it is.
  const SavedTensor *findOfModel(const std::string &name) const;

private:
  friend class CheckpointReader;

  struct File {
    explicit File(const std::string &path) : reader(path) {}
    SafetensorsReader reader;
    Seal seal;
  };
  void openFiles();
  void checkEntries() const;
  [[noreturn]] void reject(const SavedFile &file, const std::string &why) const;

  Manifest said;
  std::vector<std::unique_ptr<File>> files; ///< in the order of the manifest
  std::map<std::string, const SavedTensor *, std::less<>> tensors;
};

/// Reads for one thread. It caches the 16 blocks of 1 MiB that were read last: rows of a tensor with a different cut
/// come from a few blocks in turns.
class CheckpointReader {
public:
  explicit CheckpointReader(const Checkpoint &checkpoint) : checkpoint(checkpoint) {}

  /// Passes elements [begin, begin + count) of the whole tensor to `take`, in the type of the tensor, in parts. Throws
  /// Damaged.
  void read(const SavedTensor &tensor, uint64_t begin, uint64_t count, const Take &take);
  /// The same, to memory. Blocks within the range are read and verified in place, without a copy.
  void readTo(const SavedTensor &tensor, uint64_t begin, uint64_t count, char *to);
  /// blocksOf: the number of blocks of a piece. verify: verifies one of them; throws Damaged.
  static uint64_t blocksOf(const SavedTensor &tensor, const SavedPiece &piece);
  void verify(const SavedTensor &tensor, const SavedPiece &piece, uint64_t block) {
    load(placeOf(tensor, piece, block));
  }
  /// The total size of the blocks that were read so far.
  uint64_t bytesRead() const { return readBytes; }

private:
  struct Block {
    uint64_t file, begin; ///< its place in the file
    uint64_t lastUse;
    std::vector<char> bytes;
  };
  /// A block of a piece in its file.
  struct BlockPlace {
    const SavedTensor &tensor;
    const SavedPiece &piece;
    uint64_t number;
    uint64_t begin, bytes; ///< in the file
  };
  BlockPlace placeOf(const SavedTensor &tensor, const SavedPiece &piece, uint64_t block) const;
  void readBlock(const BlockPlace &place, char *to);
  const Block &load(const BlockPlace &place);
  template <class Visit> void forEachPart(const SavedTensor &tensor, uint64_t begin, uint64_t count, Visit visit) const;

  const Checkpoint &checkpoint;
  std::vector<Block> blocks;
  uint64_t uses = 0, readBytes = 0;
};

} // namespace xlc::runtime

#endif
