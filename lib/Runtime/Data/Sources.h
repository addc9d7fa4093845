// Where the rows of an input lie: in a file of its own, or in a stream of tokens that several inputs read at
// other places.
//
//   file     row i is elements [i W, i W + W) of its file
//   stream   of a file row i is tokens [i S + shift, i S + shift + S), and the rows of the next file follow
#ifndef XLC_LIB_RUNTIME_DATA_SOURCES_H
#define XLC_LIB_RUNTIME_DATA_SOURCES_H

#include "TokenFiles.h"

namespace xlc::runtime {

/// Rows that follow each other in a file without gaps.
struct Stretch {
  const InputFile *file;
  StoredType type;
  uint64_t begin; ///< the byte of the first element of the first row
  uint64_t row;   ///< the number of that row in the file
  uint64_t rows;
};

class RowSource {
public:
  virtual ~RowSource() = default;
  virtual uint64_t rows() const = 0;
  virtual bool isOfStream() const = 0;
  /// From row `row` on to the end of its file.
  virtual Stretch find(uint64_t row) const = 0;
  /// All there are.
  virtual std::vector<Stretch> stretches() const = 0;
};

/// A file of rows.
class RowFile : public RowSource {
public:
  /// Opens it; throws Rejected where its rows are not those of the input.
  RowFile(const std::string &path, const plan::InputT &input);

  uint64_t rows() const override { return file.shape[0]; }
  bool isOfStream() const override { return false; }
  Stretch find(uint64_t row) const override {
    return {&file.bytes(), file.type, file.begin() + row * rowBytes, row, rows() - row};
  }
  std::vector<Stretch> stretches() const override { return {find(0)}; }

private:
  const NpyFile file;
  const uint64_t rowBytes;
};

/// The files of a stream, one behind the other, cut into rows.
class TokenStream {
public:
  /// Opens them. A row has `length` tokens, and `next` says whether the token behind it is one of its targets. Throws
  /// Rejected.
  TokenStream(const std::vector<std::string> &patterns, plan::TokenType type, uint64_t length, bool next, Scan scan);

  uint64_t rows() const { return ends.empty() ? 0 : ends.back(); }
  /// Tokens behind the last row of a file, of all files.
  uint64_t tokensLeft() const { return left; }
  size_t fileCount() const { return files.size(); }
  const std::string &firstPath() const { return files.front().bytes().path; } ///< there is one
  uint64_t length() const { return rowLength; }
  Stretch find(uint64_t row, uint64_t shift) const;

private:
  const uint64_t rowLength;
  std::vector<TokenFile> files;
  std::vector<uint64_t> ends; ///< rows of all files up to this one
  uint64_t left = 0;
};

/// What an input reads of a stream, which outlives it.
class StreamRows : public RowSource {
public:
  StreamRows(const TokenStream &stream, uint64_t shift) : stream(stream), shift(shift) {}

  uint64_t rows() const override { return stream.rows(); }
  bool isOfStream() const override { return true; }
  Stretch find(uint64_t row) const override { return stream.find(row, shift); }
  std::vector<Stretch> stretches() const override;

private:
  const TokenStream &stream;
  const uint64_t shift; ///< tokens from the begin of a row on
};

} // namespace xlc::runtime

#endif
