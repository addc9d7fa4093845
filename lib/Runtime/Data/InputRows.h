// The rows of one input in its type, whatever they lie in: read a block at a time, checked where they were
// read, converted. Those very bytes are what a step uses. Rows that follow each other in a file are read
// together.
#ifndef XLC_LIB_RUNTIME_DATA_INPUTROWS_H
#define XLC_LIB_RUNTIME_DATA_INPUTROWS_H

#include "Device/DataSource.h"
#include "Sources.h"

namespace xlc::runtime {

/// Memory in which elements pass: as they are stored, and in the type of their input.
struct Blocks {
  static constexpr uint64_t bytes = 1 << 16;
  char stored[bytes], converted[bytes];
};

/// Receives rows: in memory, one after the other, which saves a copy, or as blocks that a function takes.
class RowSink {
public:
  explicit RowSink(char *memory) : memory(memory) {}
  /// `take` outlives it.
  explicit RowSink(const Take &take) : take(&take) {}

  /// Where the next elements may be made: there, or in `block`, of which nothing is kept.
  char *roomOr(char *block) const { return memory ? memory : block; }
  /// The next bytes, which may lie in that room.
  void give(const char *bytes, uint64_t count);

private:
  char *memory = nullptr;
  const Take *take = nullptr; ///< one of the two
};

class InputRows {
public:
  /// `source` null: all elements are `number`.
  InputRows(const plan::InputT &input, std::unique_ptr<const RowSource> source, double number)
      : input(input), source(std::move(source)), number(number) {}

  bool isFilled() const { return !source; }
  /// None of an input that is filled.
  uint64_t rows() const { return source ? source->rows() : 0; }

  /// Gives rows [row, row + count). Throws std::runtime_error with file, row and column of what cannot be read,
  /// or is no id.
  void read(uint64_t row, uint64_t count, Blocks &through, RowSink &sink) const;

  /// Before the first step: all ids of files of rows that are not large; of others, and of a stream, those of the first
  /// and last row of each file. Throws Rejected.
  void check(Scan scan) const;

  /// "FILE: row 3, column 0 is not a number", or nothing. What cannot be read is no such number: a load says so.
  std::string findNaN(uint64_t row, Blocks &through) const;

  /// Where a row lies, for a message.
  std::string placeOf(uint64_t row) const;

private:
  void readStretch(const Stretch &where, Blocks &through, RowSink &sink) const;
  void checkStretch(const Stretch &all, Scan scan, Blocks &through) const;
  void fill(uint64_t count, Blocks &through, RowSink &sink) const;
  void checkNumber() const;

  const plan::InputT &input;
  std::unique_ptr<const RowSource> source;
  const double number;
};

} // namespace xlc::runtime

#endif
