// The stream of a model and the ops outside of it, analyzed once for AssignUnits.
//
//   stream   ops that depend on an input and on a parameter, in program order; places are numbers in it
//   shared   ops on parameters alone that compute something several atoms read (a norm of relative positions)
//   side     everything else: constants, masks, positions, parameters turned around; copied to where it is used
//
// Atoms are the ops between cuts of the stream; the caller chooses which values a cut may cross besides the one live
// value.
#ifndef XLC_LIB_UNITS_STREAM_H
#define XLC_LIB_UNITS_STREAM_H

#include "RepeatedRuns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace xlc {

/// A value that is defined at position `begin` of the stream, read last at position `end`, and before that at `before`
/// (or defined there).
struct LiveRange {
  size_t begin, before, end;
  size_t length() const { return end - begin; }
};

/// A range of the stream: positions begin ... end - 1.
struct Atom {
  size_t begin, end;
};

class Stream {
public:
  explicit Stream(mlir::func::FuncOp function);

  const std::vector<mlir::Operation *> &getOps() const { return ops; }
  /// Values that live for more than one position, in the order of their definition.
  const std::vector<LiveRange> &getRanges() const { return ranges; }

  /// Cuts wherever only one live value is needed later. Each range counts up to its position in `ends`.
  std::vector<Atom> cut(const std::vector<size_t> &ends) const;

  /// The shared ops, each with the first atom that reads it, in program order.
  using Shared = llvm::MapVector<mlir::Operation *, size_t>;
  Shared findShared(const std::vector<Atom> &atoms) const;

  /// Appends the side ops that `op` needs and `seen` does not contain, each after its own operands.
  using OpSet = llvm::DenseSet<mlir::Operation *>;
  void collectSides(mlir::Operation *op, const Shared &shared, OpSet &seen,
                    llvm::SmallVectorImpl<mlir::Operation *> &sides) const;

  /// An atom's structure as a list of words: op names, attributes, types and wiring. Equal words are equal structures.
  using Words = std::vector<const void *>;
  Words describe(const Atom &atom, const Shared &shared, bool &hasParameter) const;

private:
  enum Source { none = 0, input = 1, parameter = 2, both = 3 };
  struct Description;

  int sourceOf(mlir::Value value) const;
  bool isStream(mlir::Operation *op) const { return places.contains(op); }
  bool computesOnParameters(mlir::Operation *op) const;
  void collectOps();
  void collectRanges();

  mutable mlir::func::FuncOp function; ///< a handle; its accessors are not const
  llvm::DenseMap<mlir::Operation *, int> sources;
  llvm::DenseMap<mlir::Operation *, size_t> places;
  std::vector<mlir::Operation *> ops;
  std::vector<LiveRange> ranges;
};

} // namespace xlc

#endif
