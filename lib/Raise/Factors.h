// Represents dimensions as products of factors, so that a value is recognised through any rearrangement.
//
// Exporters split heads off the width, flatten batch and heads, swap dimensions and repeat keys, each in many ways.
// Here a dimension is a list of factors, outermost first, and a step back from a value to the operand of a reshape,
// transpose, broadcast, concat or gather only moves, splits or drops factors:
//
//     keys [batch, 4 heads, 32, 16]       b | g m | k | d
//     = reshape [batch, 2, 2, 32, 16]     b | g | m | k | d
//     = broadcast [batch, 2, 1, 32, 16]   b | g | - | k | d       the same keys for every m
//     = transpose [batch, 32, 2, 16]      b | k | g | d
//
// So the common factors of two values, and the factors along which one is repeated, follow from their lists.
#ifndef XLC_LIB_RAISE_FACTORS_H
#define XLC_LIB_RAISE_FACTORS_H

#include "xlc/Dialect/Graph/Graph.h"

namespace xlc {

/// Factors by number, outermost first; none has size 1.
using FactorList = llvm::SmallVector<int, 4>;

/// A value with the factors of each of its dimensions. If the size of a dimension differs from their product, it is 1:
/// the value does not depend on the dropped factors.
struct FactoredValue {
  mlir::Value value;
  llvm::SmallVector<FactorList> dims;
};

class FactorTable {
public:
  /// A list of one new factor; empty when `size` is 1.
  FactorList make(int64_t size);
  int64_t sizeOf(llvm::ArrayRef<int> list) const;
  /// `list`, with split factors replaced by their parts.
  FactorList expand(llvm::ArrayRef<int> list) const;
  /// All factors of the value, in row-major order.
  FactorList flatten(const FactoredValue &value) const;

  /// Moves `value` to the operand that it rearranges or repeats; false for any other op. If `mayRepeat` is false, only
  /// ops that keep every element once are undone.
  bool stepBack(FactoredValue &value, bool mayRepeat = true);

  /// `value` with dimensions `to`, rearranged and, along factors that it lacks, repeated.
  mlir::Value arrange(mlir::OpBuilder &builder, mlir::Location loc, const FactoredValue &value,
                      llvm::ArrayRef<FactorList> to) const;

private:
  /// Takes factors of the product `size` from the front of `rest`, splitting one if necessary.
  std::optional<FactorList> take(FactorList &rest, int64_t size);
  bool undoReshape(FactoredValue &value, mlir::Value x);
  bool undoConcat(FactoredValue &value, graph::ConcatOp op);
  bool undoGather(FactoredValue &value, graph::GatherOp op);

  struct Factor {
    int64_t size;
    int outer = -1, inner = -1; ///< its parts, once split
  };
  std::vector<Factor> factors;
};

} // namespace xlc

#endif
