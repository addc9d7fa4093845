// What a file of parameters says of itself in its `__metadata__`, so that one flipped bit is found at start:
//
//     xlc.header       of every byte before the data, these 16 digits taken as zeros
//     xlc.model        of names, types and shapes in the order of names: which model, whatever its layout
//     xlc.xxh3.NAME    of the elements of tensor NAME
//     format           "pt": readers of Hugging Face's models refuse a file whose metadata lack it
//
// Each of xlc's is a Checksum. One over all of them names the values: a program has that of the file that was made with
// it. The file of a checkpoint also has, of each of its tensors:
//
//     xlc.blocks.NAME  a checksum of each block of 1 MiB of its elements, one behind the other, so that who reads a part
//                      verifies no more than that part
//     xlc.piece.NAME   of a piece: "dim outer parts index begin end", the elements that it has (States.h, PieceShape)
//     xlc.shape.NAME   of a piece: the dimensions of the whole tensor, with blanks between them
#ifndef XLC_LIB_RUNTIME_FILES_SEAL_H
#define XLC_LIB_RUNTIME_FILES_SEAL_H

#include "Checksum.h"
#include "SafetensorsHeader.h"

#include <optional>

namespace xlc::runtime {

/// How much of a tensor has a checksum of its own.
inline constexpr uint64_t sealedBlock = 1 << 20;

/// How a tensor is cut: dimension `dim` is [outer, run], and each run is in `parts` blocks. Whole: one part.
struct TensorCut {
  uint64_t dim = 0, outer = 1, parts = 1;
  bool operator==(const TensorCut &) const = default;
};

/// Elements [begin, end) of the piece of `index`, its padding included.
struct PieceRange {
  uint64_t index = 0, begin = 0, end = 0;
  bool operator==(const PieceRange &) const = default;
};

/// What a part of a tensor is of.
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
  std::map<std::string, std::string> blocks;    ///< by tensor: the digits of all of its blocks
  std::map<std::string, PieceForm> pieces;      ///< by tensor that is one

  /// Why the elements of `tensor`, of which `checksum` is one, are not those that were written, or nothing.
  std::string findDamage(const std::string &tensor, const Checksum &checksum) const;

  /// The name of the values.
  std::string digest() const;
  bool operator==(const Seal &) const = default;
};

/// What helps where a seal is wrong.
inline constexpr char sealAdvice[] =
    "a file that was edited on purpose must be written without the keys of '__metadata__' that begin with 'xlc.'";

/// Of its elements, in the file.
uint64_t countBytes(const TensorForm &tensor);

/// Which model it is.
std::string fingerprintOf(std::vector<TensorForm> tensors);

/// Whether the tensors of a file have checksums of their blocks.
enum class BlockSeals : bool { Without, With };

/// How many blocks so many bytes have.
constexpr uint64_t countBlocks(uint64_t bytes) { return bytes / sealedBlock + (bytes % sealedBlock != 0); }

/// The length and the header of a file with these tensors, one behind the other; checksums that are missing are zeros.
std::string makeSealedHeader(const std::vector<TensorForm> &tensors, const Seal &seal,
                             BlockSeals blocks = BlockSeals::Without);

/// The seal of a header; none where it has no key of ours. `bytes`: all before the data. What is wrong with it goes to
/// `complaint`.
std::optional<Seal> readSeal(std::string bytes, const SafetensorsHeader &header, std::string &complaint);

} // namespace xlc::runtime

#endif
