// Checksums of a file of parameters, stored in its `__metadata__`, so that one flipped bit is found at start:
//
//     xlc.header       of every byte before the data, with zeros in place of these 16 digits
//     xlc.model        of names, types and shapes, sorted by name: it identifies the model, whatever its layout
//     xlc.xxh3.NAME    of the elements of tensor NAME
//     format           "pt": readers of Hugging Face's models refuse a file whose metadata lack it
//
// Each of xlc's entries is a Checksum. A checksum over all of them names the values: a program contains that of the
// file that was created with it. The file of a checkpoint also has these entries for each of its tensors:
//
//     xlc.blocks.NAME  the checksums of all blocks of 1 MiB of its elements, one after the other, so that a reader of a
//                      part verifies only that part
//     xlc.piece.NAME   of a piece: "dim outer parts index begin end", the elements in it (States.h, PieceShape)
//     xlc.shape.NAME   of a piece: the dimensions of the whole tensor, separated by blanks
#ifndef XLC_LIB_RUNTIME_FILES_SEAL_H
#define XLC_LIB_RUNTIME_FILES_SEAL_H

#include "Checksum.h"
#include "SafetensorsHeader.h"

#include <optional>

namespace xlc::runtime {

/// The bytes of a block that has a checksum of its own.
inline constexpr uint64_t sealedBlock = 1 << 20;

/// The cut of a tensor: dimension `dim` is [outer, run], and each run is in `parts` blocks. Uncut: one part.
struct TensorCut {
  uint64_t dim = 0, outer = 1, parts = 1;
  bool operator==(const TensorCut &) const = default;
};

/// Elements [begin, end) of the piece `index`, its padding included.
struct PieceRange {
  uint64_t index = 0, begin = 0, end = 0;
  bool operator==(const PieceRange &) const = default;
};

/// The tensor to which a piece belongs, and its place in it.
struct PieceForm {
  std::vector<uint64_t> shape; ///< of the whole tensor
  TensorCut cut;
  PieceRange range;
  bool operator==(const PieceForm &) const = default;
};

/// The name, type and shape of a tensor. A piece has one dimension.
struct TensorForm {
  std::string name;
  std::vector<uint64_t> shape;
  std::string dtype = "F32";
  std::optional<PieceForm> piece = {}; // NOLINT
};

struct Seal {
  std::string model;
  std::map<std::string, std::string> checksums; ///< by tensor
  std::map<std::string, std::string> blocks;    ///< by tensor: the digits of all its blocks
  std::map<std::string, PieceForm> pieces;      ///< by tensor that is a piece

  /// The reason why the elements of `tensor`, whose checksum is `checksum`, differ from those that were written, or
  /// nothing.
  std::string findDamage(const std::string &tensor, const Checksum &checksum) const;

  /// The digest that names the values.
  std::string digest() const;
  bool operator==(const Seal &) const = default;
};

/// The advice in messages about an invalid seal.
inline constexpr char sealAdvice[] =
    "if the file was edited on purpose, remove the keys of '__metadata__' that begin with 'xlc.'";

/// The bytes of the tensor's elements in the file.
uint64_t countBytes(const TensorForm &tensor);

/// A fingerprint that identifies the model.
std::string fingerprintOf(std::vector<TensorForm> tensors);

/// Whether a file contains checksums of the blocks of its tensors.
enum class BlockSeals : bool { Without, With };

/// The number of blocks of `bytes` bytes.
constexpr uint64_t countBlocks(uint64_t bytes) { return bytes / sealedBlock + (bytes % sealedBlock != 0); }

/// The length and the header of a file with these tensors, stored contiguously. Missing checksums are zeros.
std::string makeSealedHeader(const std::vector<TensorForm> &tensors, const Seal &seal,
                             BlockSeals blocks = BlockSeals::Without);

/// The seal of a header; none if it has no key of xlc. `bytes`: all bytes before the data. Errors are written to
/// `complaint`.
std::optional<Seal> readSeal(std::string bytes, const SafetensorsHeader &header, std::string &complaint);

} // namespace xlc::runtime

#endif
