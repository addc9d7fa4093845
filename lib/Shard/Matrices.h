// The tensors that tensor parallelism splits: the matrices of repeated units, the heads of their attention, and the
// vocabulary.
#ifndef XLC_LIB_SHARD_MATRICES_H
#define XLC_LIB_SHARD_MATRICES_H

#include "Stream.h"
#include "xlc/Shard/Shard.h"
#include "llvm/ADT/MapVector.h"

namespace xlc::shard {

/// A weight matrix of a unit: a parameter of rank 2 that a contraction reads, and the contraction that reads it first.
struct Matrix {
  mlir::BlockArgument parameter;
  mlir::Operation *reader;
};

/// An instance of a repeated class: its ops in program order and its matrices in the order of first use.
struct Instance {
  graph::ModelUnitAttr unit;
  std::vector<mlir::Operation *> ops;
  std::vector<Matrix> matrices;
};

/// The instances of all repeated classes, in program order.
std::vector<Instance> findInstances(mlir::func::FuncOp function);

/// Possible layouts of a matrix: each dimension that tp divides, in the number of runs into which its users slice it,
/// and, if its users are split into fewer pieces than tp (key-value heads), in as many parts as these allow.
std::vector<Layout> findCandidates(const Matrix &matrix, int64_t tp);

/// A message if the attention of a unit has heads that tp ranks cannot share evenly; none otherwise (Heads.cpp).
std::optional<Message> findUnsharedHeads(llvm::ArrayRef<Instance> instances, const ShardOptions &options);

/// The numbers of ranks that can share all heads of attention and all matrices: "tp = 2 or 4 would work"; none if there
/// is no attention (Heads.cpp).
std::optional<std::string> adviseRanks(llvm::ArrayRef<Instance> instances);

/// Tables outside of repeated units whose rows are looked up by ids of a model input, or scored by a cross-entropy, and
/// that have at least `elements` elements: the dimension of their rows is split.
llvm::MapVector<mlir::Value, Layout> findVocabularies(mlir::func::FuncOp function, int64_t tp, int64_t elements);

} // namespace xlc::shard

#endif
