// The exec program of one pipeline stage on all its ranks, each with an arena of its own.
//
// The ranks share the program and run in lockstep, also within functions, where they meet at collectives. A call is
// evaluated by its kernel's graph body: read the ins, evaluate, write or add to the outs; where these share bytes with
// the ins, it must not matter which is written first (Aliasing.h). What stages do together
// (send, receive, collectives of several stages) is Program.cpp's.
#ifndef XLC_LIB_INTERPRET_RANKS_STAGEPROGRAM_H
#define XLC_LIB_INTERPRET_RANKS_STAGEPROGRAM_H

#include "Exchange.h"
#include "KernelResults.h"
#include "Model.h"
#include "mlir/IR/SymbolTable.h"
#include "xlc/Dialect/Sched/Sched.h"
#include "xlc/Runtime/States.h"

namespace xlc::interpret {

/// The words by which an action is known.
llvm::StringRef labelOf(mlir::Operation *action);

/// A state of a member of a bucket.
struct Holding {
  exec::StateOp state;
  sched::BucketOp bucket;
  std::string name; ///< parameter, master (kMaster) or state
  int64_t member;   ///< of the bucket

  int64_t getBytes(int64_t elements) const { return graph::getByteSize(exec::StateOp(state).getType(), elements); }
};

template <class E> class StageProgram {
public:
  StageProgram(exec::ProgramOp op, const Model &model, const Source<E> &source, const Options &options,
               KernelResults<E> *known);

  /// Before the first step: parameters, states, indices, and that no step was skipped.
  llvm::LogicalResult initialize();
  /// An action that this stage does by itself, in step `now`.
  llvm::LogicalResult run(mlir::Operation &action, int64_t now);
  /// What a rank of the stage, with those it shares pieces and shards with, holds after a step.
  llvm::LogicalResult collect(int64_t rank, Runner<E>::Visit visit);
  /// Of these the results of the step alone.
  llvm::LogicalResult collectResults(int64_t rank, Runner<E>::Visit visit);

  /// A rank in a collective between two places.
  Participant<E> participant(exec::ExchangeOp exchange, int64_t rank);

  exec::ProgramOp op;
  int64_t stageRanks;
  Memory<E> memory;

private:
  llvm::LogicalResult act(exec::BeginOp);
  llvm::LogicalResult writeNumber(exec::BeginOp begin, exec::PlaceAttr place, int64_t offset, mlir::Type type,
                                  const Datum<E> &value);
  llvm::LogicalResult act(exec::LoadOp);
  llvm::LogicalResult act(exec::StoreOp);
  llvm::LogicalResult act(exec::RunOp);
  llvm::LogicalResult act(exec::ExchangeOp);
  llvm::LogicalResult act(exec::ReleaseOp);
  llvm::LogicalResult view(exec::ViewOp op, llvm::DenseMap<mlir::Value, Span> &spans);
  llvm::LogicalResult call(const Access &access, exec::CallOp op, bool isFirst,
                           const llvm::DenseMap<mlir::Value, Span> &spans);
  llvm::LogicalResult collective(exec::RunOp run, exec::CollectiveOp op,
                                 llvm::ArrayRef<llvm::DenseMap<mlir::Value, Span>> spans);
  /// One collective for every group of the stage's ranks.
  llvm::LogicalResult exchangeInGroups(const Exchange &what,
                                       llvm::function_ref<Participant<E>(int64_t rank)> participate);
  llvm::LogicalResult forEachHolding(llvm::function_ref<llvm::LogicalResult(const Holding &)> visit);
  llvm::LogicalResult verifyStates();
  llvm::LogicalResult initializeNumbers();
  llvm::LogicalResult initializeTable(exec::StateOp state);
  llvm::LogicalResult collectPiece(const Holding &holding, int64_t rank, Tensor<E> &whole);
  runtime::BucketMember memberOf(sched::BucketOp bucket, int64_t member, int64_t rank) const;
  int64_t beginOf(exec::StateOp state, int64_t rank) const;

  int64_t firstRank; ///< of the stage, among all
  const Model &model;
  Source<E> source;
  Options options;
  KernelResults<E> *known;
  mlir::SymbolTable symbols;
  std::map<int64_t, std::map<std::string, Datum<E>>> outputs; ///< by rank: of the model, that were given last
  int64_t now = 0;
};

} // namespace xlc::interpret

#endif
