// Parses and validates files of tokens. The first bytes of a file determine its format, and its size must match its
// header:
//
//   raw        no header; the type is given            tokens, little endian
//   llm.c      256 numbers of 32 bits: magic 20240520, version 1 (16 bits a token), or 20240801, version 7 (32 bits);
//              third: the number of tokens             then the tokens
//   Megatron   X.idx beside X.bin: "MMIDIDX\0\0", 64 bits version 1, 8 bits type (1 u8, 2 i8, 3 i16, 4 i32, 5 i64,
//              8 u16), 64 bits sequences, 64 bits documents, then of each sequence its length in 32 bits, of each its
//              first byte in X.bin in 64 bits, of each document a number of 64 bits
//                                                      X.bin is the sequences, one behind the other
//   .npy       of one dimension, integers
#ifndef XLC_LIB_RUNTIME_DATA_TOKENFILES_H
#define XLC_LIB_RUNTIME_DATA_TOKENFILES_H

#include "Files/Npy.h"
#include "Plan/Plan.h"

#include <memory>

namespace xlc::runtime {

/// Of indices larger than this, only the begin and the end are checked, unless a full scan is requested.
inline constexpr uint64_t kMostScanned = 64 << 20;
enum class Scan { Small, All };

struct TokenFile {
  StoredType type = StoredType::U16;
  uint64_t begin = 0, tokens = 0; ///< the byte offset of the first token; the number of tokens
  std::unique_ptr<const NpyFile> npy;
  std::unique_ptr<const InputFile> other; ///< exactly one of the two is set

  const InputFile &bytes() const { return npy ? npy->bytes() : *other; }
};

/// Opens a file of tokens. Throws Rejected with the name of the file and the error. `type`: the type of tokens in a raw
/// file.
TokenFile openTokens(const std::string &path, plan::TokenType type, Scan scan = Scan::Small);

/// The files that match the paths and patterns, each once; those of a pattern are sorted by name. Of a pair of Megatron
/// files, only the .bin is listed. Throws Rejected if a pattern has no match.
std::vector<std::string> findTokenFiles(const std::vector<std::string> &patterns);

} // namespace xlc::runtime

#endif
