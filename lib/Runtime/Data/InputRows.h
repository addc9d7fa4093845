// The rows of one input in its type, from any source: read a block at a time, checked in the memory into which they
// were read, then converted. The step uses those very bytes. Consecutive rows of a file are read together.
#ifndef XLC_LIB_RUNTIME_DATA_INPUTROWS_H
#define XLC_LIB_RUNTIME_DATA_INPUTROWS_H

#include "Device/DataSource.h"
#include "Sources.h"

namespace xlc::runtime {

/// Buffers for elements in transit: one in the stored type, one in the type of the input.
struct Blocks {
  static constexpr uint64_t bytes = 1 << 16;
  char stored[bytes], converted[bytes];
};

/// Receives rows, either in contiguous memory, which saves a copy, or as blocks that are passed to a function.
class RowSink {
public:
  explicit RowSink(char *memory) : memory(memory) {}
  /// `take` outlives this object.
  explicit RowSink(const Take &take) : take(&take) {}

  /// The memory in which the next elements may be created: the destination itself, or `block`, whose contents are not
  /// kept.
  char *roomOr(char *block) const { return memory ? memory : block; }
  /// Appends bytes, which may already be in the memory that roomOr returned.
  void give(const char *bytes, uint64_t count);

private:
  char *memory = nullptr;
  const Take *take = nullptr; ///< exactly one of the two is set
};

class InputRows {
public:
  /// If `source` is null, all elements are `number`.
  InputRows(const plan::InputT &input, std::unique_ptr<const RowSource> source, double number)
      : input(input), source(std::move(source)), number(number) {}

  bool isFilled() const { return !source; }
  /// 0 for an input with a constant value.
  uint64_t rows() const { return source ? source->rows() : 0; }

  /// Passes rows [row, row + count) to `sink`. Throws std::runtime_error with file, row and column of an element that
  /// cannot be read or is not a valid id.
  void read(uint64_t row, uint64_t count, Blocks &through, RowSink &sink) const;

  /// Call before the first step. Checks all ids of small files of rows; for larger files and for streams, those of the
  /// first and last row of each file. Throws Rejected.
  void check(Scan scan) const;

  /// "FILE: the element in row 3, column 0 is NaN", or nothing. Elements that cannot be read are ignored here: a
  /// load reports them.
  std::string findNaN(uint64_t row, Blocks &through) const;

  /// The place of a row, for a message.
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
