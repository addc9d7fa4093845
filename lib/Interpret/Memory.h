// Spans of the ranks' arenas: what the actions of an `exec` program read and write.
//
// A span is an address with sizes and strides, and remembers its buffer: it may not leave that
// buffer, and a read of what is not there names it. When a buffer's life ends, its bytes are
// forgotten, except where a buffer that lives on shares them on purpose.
#ifndef XLC_LIB_INTERPRET_MEMORY_H
#define XLC_LIB_INTERPRET_MEMORY_H

#include "Arena.h"
#include "xlc/Dialect/Exec/Exec.h"

namespace xlc::interpret {

/// Elements of a buffer: sizes and strides in elements.
struct Span {
  int64_t buffer, address;
  mlir::Type element;
  Shape sizes, strides;

  int64_t elementBytes() const { return (element.getIntOrFloatBitWidth() + 7) / 8; }
};

/// Who accesses a span, for messages.
struct Access {
  mlir::Operation *action;
  llvm::StringRef label; ///< of the action
  int64_t rank;
};

template <class E> class Memory {
public:
  explicit Memory(exec::ProgramOp program);

  /// Where a place stands on a rank: `count` elements, one after the other.
  Span spanAt(exec::PlaceAttr place, int64_t rank, int64_t count, mlir::Type element) const;
  /// Fails with a message where the span leaves its buffer.
  llvm::LogicalResult check(const Access &access, const Span &span) const;
  llvm::LogicalResult read(const Access &access, const Span &span, Datum<E> &value) const;
  /// Writes the value, or adds it to what is there.
  llvm::LogicalResult write(const Access &access, const Span &span, const Datum<E> &value, bool accumulate);
  void forget(int64_t rank, int64_t address, int64_t bytes) { arenas[rank].forget(address, bytes); }
  /// Forgets the buffers whose life ends with action `time`.
  void expire(int64_t time);

private:
  template <class T>
  llvm::LogicalResult writeTensor(const Access &access, const Span &span, const Tensor<T> &value, bool accumulate);
  llvm::LogicalResult missing(const Access &access, const Span &span, int64_t address) const;
  bool isLive(exec::BufferOp buffer, int64_t time) const {
    return buffer.getPersistent() || (int64_t(buffer.getFirst()) <= time && time <= int64_t(buffer.getLast()));
  }

  std::vector<exec::BufferOp> buffers;
  std::vector<Arena<E>> arenas;
  int64_t shards;
};

} // namespace xlc::interpret

#endif
