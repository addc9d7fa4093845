// Bytes of an arena as tensors: a call's operands, their location, and the bytes around them.
#ifndef XLC_LIB_VERIFY_OPERANDS_H
#define XLC_LIB_VERIFY_OPERANDS_H

#include "mlir/IR/BuiltinTypes.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "xlc/Interpret/Bounded.h"
#include "xlc/Interpret/Tensor.h"

namespace xlc::verify {

using interpret::Bounded;
using interpret::Datum;
using interpret::Integers;
using interpret::Shape;
using interpret::Tensor;

/// Elements in memory: sizes and strides in elements.
struct Operand {
  char *at;
  mlir::Type element;
  Shape sizes, strides;

  static Operand of(mlir::MemRefType type, char *at);
  /// `count` elements one after the other.
  static Operand of(mlir::Type element, int64_t count, char *at) { return {at, element, {count}, {1}}; }

  int64_t bytes() const { return graph::getByteSize(element, 1); }
  int64_t count() const { return interpret::countOf(sizes); }
  /// The bytes from the first to the last, inclusive; strides are not negative.
  int64_t span() const;
  bool isContiguous() const;
  /// The elements from `first` on; requires a contiguous operand.
  Operand piece(int64_t first, int64_t count) const;
  /// Calls visit(address) for each element in row-major order.
  template <class Visit> void forEach(Visit visit) const {
    int64_t width = bytes();
    interpret::forEachPosition<1>(sizes, {strides}, {0}, [&](auto offset) { visit(at + offset[0] * width); });
  }
};

/// The elements as stored; their shape is `shape`, or the operand's sizes if that is null.
Datum<Bounded> read(const Operand &operand, const Shape *shape = nullptr);

/// A float of two, four or eight bytes.
double readFloat(const char *at, mlir::Type element);
/// An integer or a boolean.
int64_t readInteger(const char *at, int64_t bytes);

/// The bytes around the results of a call before it runs: only the results may change.
class Surroundings {
public:
  /// Records all of a small arena, otherwise both sides of each result and the gaps between its elements. Memory that
  /// may be written without being a result (workspace) is `scratch`.
  Surroundings(char *arena, int64_t bytes, llvm::ArrayRef<Operand> results, llvm::ArrayRef<Operand> scratch);
  /// The first byte of the arena that changed but must not; -1: none.
  int64_t findChanged() const;

private:
  struct Window {
    char *begin, *end;
    std::vector<char> before;
  };
  void add(char *begin, char *end);

  char *arena;
  int64_t bytes;
  std::vector<Operand> mayChange;
  std::vector<Window> windows;
};

} // namespace xlc::verify

#endif
