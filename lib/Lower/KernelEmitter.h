// Emits one kernel from the graph ops that define it, element by element: every op has a rule that computes its element
// at given indices from elements of its operands (the scheme of XLA's elemental emitter). A kernel is then a nest of
// loops around "evaluate the results here, store them", and intermediate values are never stored in memory.
//
// Indices are affine in the *lane*: evaluating at [i, j + lane] for 16 lanes yields a vector; if no index depends on
// the lane, the element is one scalar, shared by all lanes. Loops nest in *scopes*; an element is computed in the
// outermost scope that defines its indices and cached there, so nothing is computed twice or inside a loop that it does
// not depend on.
//
//     scope 0  kernel      pointers, constants, elements of scalar tensors
//     scope 1  row loop    row statistics: an inner reduction loop each level, before the ...
//     scope 2  lane loop   ... loop that stores
#ifndef XLC_LIB_LOWER_KERNELEMITTER_H
#define XLC_LIB_LOWER_KERNELEMITTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xlc/Dialect/Graph/Graph.h"
#include <map>

namespace xlc::lower {

/// A position along one dimension: base + offset + stride * lane, or, if `lanes` is set, any vector of positions.
struct Index {
  mlir::Value base = {}; ///< i64; null: 0
  int64_t offset = 0;
  int64_t stride = 0;     ///< per lane
  int64_t multiple = 0;   ///< base is a multiple of this; 0 where there is no base
  mlir::Value lanes = {}; ///< vector of i64
  int depth = 0;          ///< scope that defines it

  bool isUniform() const { return stride == 0 && !lanes; }
};
using Indices = llvm::SmallVector<Index, 4>;

/// The number of adjacent elements that are computed at once; `mask`: which of them exist (null: all).
struct Lanes {
  int64_t width = 1;
  mlir::Value mask = {};
  int depth = 0;           ///< scope that defines the mask
  mlir::Value exists = {}; ///< an i1: false where they repeat elements of another thread (null: true)
};

/// An operand in memory; strides in elements.
struct Memory {
  mlir::Value pointer;
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> strides;
  int64_t alignment = 0; ///< of `pointer` in bytes, which accesses make use of; 0: they are aligned as an element is
};

class Mapping; // how loops run on a target

class KernelEmitter {
public:
  /// Emits at the end of `body`, for the target of `mapping`, whose constants are in this address space.
  KernelEmitter(mlir::Block *body, mlir::Location loc, Mapping &mapping, unsigned constantSpace);

  /// The element of `value` at `indices`: a scalar, or a vector of lanes.width.
  mlir::Value evaluate(mlir::Value value, mlir::ArrayRef<Index> indices, const Lanes &lanes);
  /// The elements of all operands of an element-wise op, all scalars or all vectors.
  llvm::SmallVector<mlir::Value, 3> evaluateOperands(mlir::Operation *op, mlir::ArrayRef<Index> indices,
                                                     const Lanes &lanes);
  /// Sets the memory of a function argument.
  void bind(mlir::Value given, Memory memory) { memories[given] = std::move(memory); }
  const Memory &memoryOf(mlir::Value given) const { return memories.find(given)->second; }

  // Loops. A body gets its position and the carried values, and returns the new ones.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(const Index &, mlir::ValueRange)>;
  using LaneBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(const Index &, const Lanes &, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> loop(const Index &from, const Index &to, int64_t step, mlir::ValueRange carried,
                                      Body body);

  // Scopes.
  /// Runs the ops of `body` only if `condition` holds.
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);
  /// The value of `body` if `condition` holds; otherwise zero, or its bits.
  mlir::Value chosen(mlir::Value condition, llvm::function_ref<mlir::Value()> body);
  /// Emits `body` in a scope of its own, within the block of the current scope.
  void within(llvm::function_ref<void()> body);
  /// Emits `body` in the scope at `depth`.
  void atDepth(int depth, llvm::function_ref<void()> body);

  // Indices.
  Index constantIndex(int64_t value) { return {.offset = value}; }
  Index add(const Index &a, const Index &b, int64_t width);
  Index multiply(const Index &a, int64_t factor, int64_t width);
  Index divide(const Index &a, int64_t divisor, int64_t width);
  Index remainder(const Index &a, int64_t divisor, int64_t width);
  Index linearize(mlir::ArrayRef<Index> indices, mlir::ArrayRef<int64_t> strides, int64_t width);
  Indices delinearize(const Index &linear, mlir::ArrayRef<int64_t> shape, int64_t width);
  /// An index from an element of an integer tensor.
  Index indexOf(mlir::Value element);
  mlir::Value scalarOf(const Index &index);
  mlir::Value vectorOf(const Index &index, int64_t width);
  /// The position as i64, a scalar if it is uniform.
  mlir::Value positionOf(const Index &index, int64_t width);

  // Memory.
  mlir::Value load(const Memory &memory, mlir::ArrayRef<Index> indices, const Lanes &lanes);
  void store(const Memory &memory, mlir::ArrayRef<Index> indices, const Lanes &lanes, mlir::Value value);
  /// The memory of a constant that is not one repeated value.
  Memory constantMemory(graph::ConstantOp op);

  // Values.
  /// The constant in its register representation: the bits of a bf16 as an integer.
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value constant(mlir::Type element, double value);
  mlir::Value integer(int64_t value);
  mlir::Value splat(mlir::Value value, int64_t width);
  /// The mask of the first `count` lanes.
  mlir::Value constantMask(int64_t width, int64_t count);

  mlir::OpBuilder &builder() { return nested; }
  mlir::Location loc() const { return location; }
  Mapping &mapping() { return target; }
  int currentDepth() const { return depth; }
  /// Caches `element` as the element of `value`, as if it had been evaluated.
  void remember(mlir::Value value, mlir::ArrayRef<Index> indices, const Lanes &lanes, mlir::Value element);
  /// Whether that element is already cached.
  bool isKnown(mlir::Value value, mlir::ArrayRef<Index> indices, const Lanes &lanes);

private:
  using Key = llvm::SmallVector<int64_t, 24>;
  struct Scope {
    mlir::Block *block;
    llvm::SmallVector<mlir::Operation *, 2> openLoops; ///< new ops go before the last of them
    std::map<Key, mlir::Value> known;                  ///< looked up only, never iterated over
  };
  /// Moves the insertion point into another scope for the lifetime of the object.
  class InScope {
  public:
    InScope(KernelEmitter &emitter, int depth) : emitter(emitter), saved(emitter.depth) { emitter.enter(depth); }
    ~InScope() { emitter.enter(saved); }

  private:
    KernelEmitter &emitter;
    int saved;
  };

  struct Place {
    Key key;
    int depth;
    Lanes lanes;
  };
  /// Opens an op with a block in the current scope, and the scope of that block.
  void open(mlir::Operation *op, mlir::Block *body);
  void close(mlir::Operation *op);
  Place placeOf(mlir::Value value, mlir::ArrayRef<Index> indices, const Lanes &lanes);
  void enter(int depth);
  /// a (operation) `other`, at loop `depth`; `b` represents `other` in the cache of known values. Without `other`, `b`
  /// is the number itself.
  mlir::Value combine(int64_t operation, mlir::Value a, int64_t b, int depth, mlir::Value other = {});
  mlir::Value sum(mlir::Value a, mlir::Value b, int depth);
  mlir::Value address(const Memory &memory, const Index &at, const Lanes &lanes);
  mlir::Value fullMask(const Lanes &lanes);

  mlir::OpBuilder nested;
  mlir::Location location;
  Mapping &target;
  unsigned constantSpace;
  llvm::SmallVector<Scope, 8> scopes;
  int depth = 0;
  int constants = 0; ///< globals made so far
  llvm::DenseMap<mlir::Value, Memory> memories;
};

/// Computes the element of an op's result from its operands' elements.
using ElementRule = mlir::Value (*)(KernelEmitter &, mlir::Operation *, mlir::ArrayRef<Index>, const Lanes &);

/// The rule of an op, or null. Named ops are expanded before and have no rule.
ElementRule findElementRule(llvm::StringRef opName);
/// Whether the rule of an op emits many instructions and so needs most registers: exp, and the functions built on it.
bool isRoutine(llvm::StringRef opName);
/// Ops with a rule, in the order of the table.
llvm::SmallVector<llvm::StringRef> getEmittableOps();

} // namespace xlc::lower

#endif
