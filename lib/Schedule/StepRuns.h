// An entry, understood once: its calls with what they read and store, where each runs, and which values one
// pipeline stage sends to another.
#ifndef XLC_LIB_SCHEDULE_STEPRUNS_H
#define XLC_LIB_SCHEDULE_STEPRUNS_H

#include "xlc/Dialect/Graph/Entry.h"
#include "xlc/Pipeline/Pipeline.h"
#include "xlc/Schedule/Schedule.h"
#include "xlc/Stage/Stage.h"

namespace xlc {

/// One call of an entry, repeated for each micro-batch.
struct UnitRun {
  mlir::func::CallOp call;
  SlotKind kind;
  int64_t chunk, stage;
  llvm::SmallVector<mlir::Value> values;     ///< activations and inputs
  llvm::SmallVector<mlir::Attribute> params; ///< names
  llvm::SmallVector<int64_t> sites;
  llvm::SmallVector<mlir::Attribute> stores; ///< "@loss_sum", "@loss_count" or the name of a parameter or buffer

  mlir::ResultRange outs() const { return mlir::func::CallOp(call).getResults().drop_back(stores.size()); }
};

/// The calls in the order of the entry. Backward is B, or I and W apart.
std::vector<UnitRun> findRuns(graph::Entry entry, bool splitsBackward);

/// The way of a value over one border between chunks: it is sent when slot `kind` of chunk `from` is done.
struct Hop {
  mlir::Value value;
  SlotKind kind;
  int64_t from, to;
};

/// All hops of a micro-batch. A value goes from chunk to chunk next to it, forward with F and back with the backward,
/// until it is where it is used; a rank that holds it gets it no second time.
std::vector<Hop> findHops(llvm::ArrayRef<UnitRun> runs, const PipelineSchedule &schedule, const PipelineShape &shape);

/// A hop of one micro-batch, at its place in the global order of messages.
struct Transfer {
  Hop hop;
  int64_t microBatch, time, number;
};

/// All transfers of a step, numbered by the time at which they happen in the simulated schedule: once the value is made,
/// and both ranks are between two slots, so that nobody waits for a rank that is at work.
std::vector<Transfer> orderTransfers(llvm::ArrayRef<Hop> hops, const PipelineOrder &order, const PipelineTimes &times);

} // namespace xlc

#endif
