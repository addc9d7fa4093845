// The sources of an input's rows: a file of its own, or a stream of tokens, which several inputs read at different
// offsets.
//
//   file     row i is elements [i W, i W + W) of its file
//   stream   row i of a file is tokens [i S + shift, i S + shift + S), and the rows of the next file follow
#ifndef XLC_LIB_RUNTIME_DATA_SOURCES_H
#define XLC_LIB_RUNTIME_DATA_SOURCES_H

#include "TokenFiles.h"

namespace xlc::runtime {

/// Consecutive rows of a file, without gaps.
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
  /// The rows from `row` to the end of its file.
  virtual Stretch find(uint64_t row) const = 0;
  /// All stretches of the source.
  virtual std::vector<Stretch> stretches() const = 0;
};

/// A file of rows.
class RowFile : public RowSource {
public:
  /// Opens `path`. Throws Rejected if its rows do not match the input.
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

/// The files of a stream, concatenated and cut into rows.
class TokenStream {
public:
  /// Opens the files. A row has `length` tokens; `next` states whether the token after it is one of its targets. Throws
  /// Rejected.
  TokenStream(const std::vector<std::string> &patterns, plan::TokenType type, uint64_t length, bool next, Scan scan);

  uint64_t rows() const { return ends.empty() ? 0 : ends.back(); }
  /// The number of tokens after the last row of a file, summed over all files.
  uint64_t tokensLeft() const { return left; }
  size_t fileCount() const { return files.size(); }
  const std::string &firstPath() const { return files.front().bytes().path; } ///< a stream has at least one file
  uint64_t length() const { return rowLength; }
  Stretch find(uint64_t row, uint64_t shift) const;

private:
  const uint64_t rowLength;
  std::vector<TokenFile> files;
  std::vector<uint64_t> ends; ///< the number of rows of all files up to this one
  uint64_t left = 0;
};

/// The rows that an input reads from a stream. The stream outlives this object.
class StreamRows : public RowSource {
public:
  StreamRows(const TokenStream &stream, uint64_t shift) : stream(stream), shift(shift) {}

  uint64_t rows() const override { return stream.rows(); }
  bool isOfStream() const override { return true; }
  Stretch find(uint64_t row) const override { return stream.find(row, shift); }
  std::vector<Stretch> stretches() const override;

private:
  const TokenStream &stream;
  const uint64_t shift; ///< in tokens, from the begin of a row
};

} // namespace xlc::runtime

#endif
