// Bytes of an arena as tensors: what a call's operands are, where they stand, and what lies around them.
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
  /// From the first byte to behind the last; strides are not negative.
  int64_t span() const;
  bool isContiguous() const;
  /// The elements from `first` on; only of one that is contiguous.
  Operand piece(int64_t first, int64_t count) const;
  /// Calls visit(address) for each element in row-major order.
  template <class Visit> void forEach(Visit visit) const {
    int64_t width = bytes();
    interpret::forEachPosition<1>(sizes, {strides}, {0}, [&](auto offset) { visit(at + offset[0] * width); });
  }
};

/// The elements as they are; their shape is `shape`, or the operand's sizes where that is null.
Datum<Bounded> read(const Operand &operand, const Shape *shape = nullptr);

/// A float of two, four or eight bytes.
double readFloat(const char *at, mlir::Type element);
/// An integer or a boolean.
int64_t readInteger(const char *at, int64_t bytes);

/// What lies around the results of a call, as it was before: nothing of it may change but the results.
class Surroundings {
public:
  /// Looks at all of an arena that is small, else at both sides of each result and between its elements. What may be
  /// written without being a result (workspace) is `scratch`.
  Surroundings(char *arena, int64_t bytes, llvm::ArrayRef<Operand> results, llvm::ArrayRef<Operand> scratch);
  /// The first byte of the arena that changed and should not have; -1: none.
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
