// Spans of the arenas of a stage's ranks: what the actions of an `exec` program read and write.
//
// A span is an address with sizes and strides, and remembers its buffer: it may not leave that
// buffer, and a read of what is not there names it. After the last action that names a buffer its bytes
// are forgotten, except where a buffer that lives on shares them on purpose. Lifetimes are found here, not
// believed: those that the program states are checked by the gate of Memory.
#ifndef XLC_LIB_INTERPRET_RANKS_MEMORY_H
#define XLC_LIB_INTERPRET_RANKS_MEMORY_H

#include "Arena.h"
#include "xlc/Dialect/Exec/Exec.h"

namespace xlc::interpret {

/// Elements of a buffer: sizes and strides in elements.
struct Span {
  int64_t buffer, address;
  mlir::Type element;
  Shape sizes, strides;

  int64_t elementBytes() const { return (element.getIntOrFloatBitWidth() + 7) / 8; }
  /// Whether it is elements of two or four bytes, one after the other.
  bool isRun() const { return (elementBytes() == 2 || elementBytes() == 4) && strides == stridesOf(sizes); }
};

/// Who accesses a span, for messages.
struct Access {
  mlir::Operation *action;
  llvm::StringRef label; ///< of the action
  int64_t rank;          ///< within the stage
};

/// Elements that a collective moves: it does not look at them, so what is not there stays not there.
template <class E> struct Cargo {
  Datum<E> elements;
  std::vector<bool> isSet;
};

/// a += b; what is missing in either is missing in the sum.
template <class E> void addTo(Cargo<E> &a, const Cargo<E> &b);

template <class E> class Memory {
public:
  explicit Memory(exec::ProgramOp program);

  /// Where a place stands on a rank: `count` elements, one after the other.
  Span spanAt(exec::PlaceAttr place, int64_t rank, int64_t count, mlir::Type element) const;
  /// Fails with a message where the span leaves its buffer.
  llvm::LogicalResult check(const Access &access, const Span &span) const;
  llvm::LogicalResult read(const Access &access, const Span &span, Datum<E> &value) const;
  /// Writes the value, or adds it to what is there; of sixteen bits, rounded once.
  llvm::LogicalResult write(const Access &access, const Span &span, const Datum<E> &value, bool accumulate);
  /// The same for collectives, which move elements unseen.
  llvm::LogicalResult load(const Access &access, const Span &span, Cargo<E> &cargo) const;
  llvm::LogicalResult store(const Access &access, const Span &span, const Cargo<E> &cargo, bool accumulate);
  /// Bytes from another stage's memory, whatever they are.
  llvm::LogicalResult copyFrom(const Access &to, exec::PlaceAttr place, const Memory &other, const Access &from,
                               exec::PlaceAttr source, int64_t bytes);
  void forget(int64_t rank, int64_t address, int64_t bytes) { arenas[rank].forget(address, bytes); }
  /// Forgets the buffers that no action after `time` names.
  void expire(int64_t time);

private:
  llvm::LogicalResult missing(const Access &access, const Span &span, int64_t index) const;
  bool isLive(size_t buffer, int64_t time) const { return lives[buffer].first <= time && time <= lives[buffer].second; }

  std::vector<exec::BufferOp> buffers;
  /// The first and last action that names each buffer; unlimited where its content outlives the step.
  std::vector<std::pair<int64_t, int64_t>> lives;
  std::vector<Arena<E>> arenas; ///< by rank of the stage
  dist::MeshAttr mesh;
  int64_t firstRank; ///< of the stage, among all
};

} // namespace xlc::interpret

#endif
