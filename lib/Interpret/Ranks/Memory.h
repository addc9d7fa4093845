// Spans of the arenas of a stage's ranks: the operands of the actions of an `exec` program.
//
// A span is an address with sizes and strides, and stores its buffer: it must not leave that buffer, and a read of a
// missing element names it. After the last action that names a buffer its bytes are removed, unless a live buffer
// shares them on purpose. Lifetimes are computed here; the lifetimes that the program states are checked by the gate of
// Memory.
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

  int64_t elementBytes() const { return graph::getByteSize(element, 1); }
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
  /// What outlives a step, from the memory of the same ranks in a program of another purpose: buffers of one name.
  void takePersistent(const Memory &other);
  void forget(int64_t rank, int64_t address, int64_t bytes) { arenas[rank].forget(address, bytes); }
  /// Nothing of a step has been done.
  void beginStep();
  /// An action, by its number in the program. Once all that name a buffer have ended, its bytes are forgotten.
  void begin(int64_t action);
  void end(int64_t action);

private:
  llvm::LogicalResult missing(const Access &access, const Span &span, int64_t index) const;
  bool isLive(size_t buffer) const { return lives[buffer].isForever || (lives[buffer].hasBegun && lives[buffer].left); }
  void forgetAllOf(size_t buffer);

  std::vector<exec::BufferOp> buffers;
  struct Life {
    bool isForever = false; ///< its content outlives the step
    bool hasBegun = false;  ///< an action of this step has named it
    int64_t uses = 0;       ///< actions that name it
    int64_t left = 0;       ///< those of them that have not ended
  };
  std::vector<Life> lives;                      ///< of each buffer
  std::vector<llvm::SmallVector<size_t>> named; ///< the buffers that each action names
  std::vector<Arena<E>> arenas;                 ///< by rank of the stage
  dist::MeshAttr mesh;
  int64_t firstRank; ///< of the stage, among all
};

} // namespace xlc::interpret

#endif
