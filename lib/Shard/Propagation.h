// Computes the layout of every other value, given the layouts of the parameters and of the stream.
//
// Ops are visited in program order. Each takes the strategy, nothing split or one factor, for which its operands and
// its result move the fewest bytes. Sums stay partial while they are only added to other partial sums. The first op
// that needs more causes their reduction, at their definition, to the stream's layout if they belong to it. A gathered
// value is gathered once for all its users in one unit, forward or backward.
#ifndef XLC_LIB_SHARD_PROPAGATION_H
#define XLC_LIB_SHARD_PROPAGATION_H

#include "Stream.h"
#include "xlc/Support/Quantity.h"
#include <set>

namespace xlc::shard {

/// The parameter of which a value is a rearrangement; null if there is none.
mlir::Value findParameter(mlir::Value value);

/// The input of a propagation.
struct Problem {
  mlir::func::FuncOp function;
  int64_t tp = 1;
  Stream stream;
  llvm::DenseMap<mlir::Value, Layout> parameters; ///< those that are split
  /// Values that other units use: they are never partial, and have the stream's layout if they belong to it.
  llvm::DenseSet<mlir::Value> crossing;
  /// Values that are, or are rearranged to become, the contribution to a parameter's gradient, with that parameter:
  /// their layout follows if it is split as in `parameters`.
  llvm::DenseMap<mlir::Value, mlir::Value> gradientOf;
  /// Ops that every rank computes completely.
  llvm::DenseSet<mlir::Operation *> whole;

  Problem(mlir::func::FuncOp function, int64_t tp, Stream stream);
};

/// The pass and unit of an op: a value gathered for one section is not available to another.
using Section = std::pair<mlir::Attribute, bool>;
Section sectionOf(mlir::Operation *op);

/// The strategy of an op: operands arrive as `from`, and are converted to `operands`; `results` follow.
struct Decision {
  llvm::SmallVector<Layout, 6> from, operands, results;
};

struct Cost {
  Quantity bytes;
  int64_t collectives = 0;
  Quantity memory; ///< bytes of what forward makes, for ties
  auto operator<=>(const Cost &) const = default;
};

class Propagation {
public:
  explicit Propagation(const Problem &problem) : problem(problem) {}

  /// Visits ops in order; false if a split parameter would have to be gathered.
  bool run(llvm::ArrayRef<mlir::Operation *> ops);

  Cost cost;
  mlir::Operation *stuck = nullptr; ///< the op that needs a split parameter whole
  llvm::DenseMap<mlir::Operation *, Decision> decisions;
  /// Partial sums, and values that cross units, that are converted to another layout at their definition.
  llvm::DenseMap<mlir::Value, Layout> settled;
  /// The final layout of a value.
  Layout layoutOf(mlir::Value value) const;

private:
  struct Strategy {
    Spread spread;
    uint32_t linear = 0;
    Cost cost;
  };

  void tryStrategy(mlir::Operation *op, const Spread &spread, uint32_t linear, std::optional<Strategy> &best) const;
  std::optional<Cost> costOfOperand(mlir::Operation *op, mlir::Value value, const Layout &to) const;
  std::optional<Cost> costOfResult(mlir::Value value, const Layout &layout) const;
  std::optional<Cost> costOfPath(mlir::Value value, const Layout &from, const Layout &to) const;
  llvm::SmallVector<Seed> seedsOf(mlir::Operation *op) const;
  bool tolerates(mlir::Operation *op, const Spread &spread) const;
  void commit(mlir::Operation *op, const Strategy &strategy);
  void settle(mlir::Value value, const Layout &to);

  const Problem &problem;
  llvm::DenseMap<mlir::Value, Layout> layouts;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<Section, Layout>, 2>> gathered;
};

} // namespace xlc::shard

#endif
