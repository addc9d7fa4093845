// Where a kernel's loops run: in vectors of one thread (CpuMapping.h), or on the threads of a GPU. What an element
// is, that a row's values come before its elements, and in which order results are stored is the same for both
// (EmitKernel.cpp, the rules); what differs between targets is this interface.
//
//     rows     independent of each other, each done by one worker: a thread of a CPU, a group of threads of a GPU
//     lanes    elements that a worker does at once
#ifndef XLC_LIB_LOWER_MAPPING_H
#define XLC_LIB_LOWER_MAPPING_H

#include "KernelEmitter.h"

namespace xlc::lower {

struct KernelRequest;

/// The function of a kernel on a target: how it is called, where its operands are, and what code differs beside
/// loops. An object serves one kernel.
class KernelFrame {
public:
  virtual ~KernelFrame() = default;

  /// The kernel's function, empty but for its terminator, at the builder's insertion point. Fails with a diagnostic
  /// where the target has no code for what is asked.
  virtual mlir::FailureOr<mlir::func::FuncOp> createFunction(mlir::OpBuilder &builder, llvm::StringRef name,
                                                             const KernelRequest &request) = 0;

  /// Where operand `i` of the request is.
  virtual Memory bindOperand(KernelEmitter &e, size_t i) = 0;
  /// Whether the call adds to result `i`: an i1.
  virtual mlir::Value bindAdds(KernelEmitter &e, size_t i) = 0;
  /// An element or a vector of them where `condition` holds, anything elsewhere.
  virtual mlir::Value loadWhere(KernelEmitter &e, mlir::Value condition, const Memory &memory,
                                llvm::ArrayRef<Index> indices, const Lanes &lanes) = 0;
  /// The bits of f32 as bf16 by the target's own instruction; null where there is none that takes no subnormal number
  /// for zero.
  virtual mlir::Value roundToBf16(KernelEmitter &e, mlir::Value value) = 0;
  /// The address space of constants.
  virtual unsigned constantSpace() const = 0;
};

/// How one kernel is spread over a target. An object serves one kernel.
class Mapping {
public:
  using Kinds = llvm::ArrayRef<graph::Reduction>;
  using Values = llvm::SmallVector<mlir::Value>;
  using RowBody = llvm::function_ref<void(const Index &row)>;
  using LaneBody = KernelEmitter::LaneBody;
  using ColumnBody = llvm::function_ref<void(int64_t size, const Index &position, const Lanes &)>;
  using ElementBody = llvm::function_ref<void(const Index &row, const Index &position, const Lanes &)>;

  virtual ~Mapping() = default;

  /// The function that the loops stand in.
  virtual KernelFrame &frame() = 0;

  /// Whether several share what is reduced to one element, as they share a row.
  virtual bool sharesTotals() const = 0;
  /// The kernel's work is done once.
  virtual void once(KernelEmitter &e, llvm::function_ref<void()> body) = 0;
  /// Positions of one dimension, each by itself.
  virtual void forPositions(KernelEmitter &e, int64_t size, LaneBody body) = 0;
  /// Positions of each of these extents, each by itself, which have so many rows to read at most. Several may share a
  /// position: each has some of its rows (`forRowsOfColumn`), until they are combined.
  virtual void forColumns(KernelEmitter &e, llvm::ArrayRef<int64_t> sizes, int64_t rows, ColumnBody body) = 0;
  /// Elements of `rows` rows of `size`, each by itself.
  virtual void forElements(KernelEmitter &e, int64_t rows, int64_t size, ElementBody body) = 0;
  /// Rows of `size` elements, which have values that their elements share.
  virtual void forRows(KernelEmitter &e, int64_t rows, int64_t size, RowBody body) = 0;
  /// Whether those who share a row have its elements in registers: forLanes is no loop then.
  virtual bool keepsRow(int64_t size) const = 0;
  /// `body` is one row of several that a worker of forRows does in a loop.
  virtual void withinRow(KernelEmitter &e, llvm::function_ref<void()> body) = 0;
  /// Positions 0 ... size - 1 by those who share a row, `width` at a time; what exists in no full vector is said by
  /// the lanes. The carried values are each worker's own.
  virtual Values forLanes(KernelEmitter &e, int64_t size, int64_t width, mlir::ValueRange carried, LaneBody body) = 0;
  /// Elements computed at once along `size` neighbours, with so many registers; no wider than needed.
  virtual int64_t chooseWidth(int64_t size, int64_t registers) const = 0;

  /// Whether all who share a row stand at `indices` together, and can spread a loop there.
  virtual bool areShared(llvm::ArrayRef<Index> indices) const = 0;
  /// Combines values over those who share a row, each with its kind: afterwards all have the result.
  virtual Values combine(KernelEmitter &e, Kinds kinds, Values values) = 0;
  /// Whether several share the column at `indices`, each of whom has some of its rows.
  virtual bool shareColumn(llvm::ArrayRef<Index> indices) const = 0;
  /// Those rows of a shared column that are this one's.
  virtual Values forRowsOfColumn(KernelEmitter &e, int64_t rows, mlir::ValueRange carried,
                                 KernelEmitter::Body body) = 0;
  /// Combines over those who share a column: afterwards all have the result.
  virtual Values combineColumn(KernelEmitter &e, Kinds kinds, Values values) = 0;
  /// What follows may overwrite what was read before by those who share a row.
  virtual void separate(KernelEmitter &e) = 0;
  /// Stores a row's own values, once.
  virtual void storeRow(KernelEmitter &e, llvm::function_ref<void()> store) = 0;
};

} // namespace xlc::lower

#endif
