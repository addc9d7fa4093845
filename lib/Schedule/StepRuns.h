// A parsed entry: its calls with their reads and stores, their stages, and the values that one pipeline stage sends to
// another.
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

/// The transfer of a value over one border between chunks: it is sent when slot `kind` of chunk `from` is done.
struct Hop {
  mlir::Value value;
  SlotKind kind;
  int64_t from, to;
};

/// All hops of a micro-batch. A value moves between adjacent chunks, forward with F and back with the backward, until
/// it reaches its use; a rank that has it does not receive it again.
std::vector<Hop> findHops(llvm::ArrayRef<UnitRun> runs, const PipelineSchedule &schedule, const PipelineShape &shape);

/// A hop of one micro-batch, at its position in the global order of messages.
struct Transfer {
  Hop hop;
  int64_t microBatch, time, number;
};

/// All transfers of a step, numbered by their time in the simulated schedule: once the value is computed, and both
/// ranks are between two slots, so that no rank waits for one that is computing.
std::vector<Transfer> orderTransfers(llvm::ArrayRef<Hop> hops, const PipelineOrder &order, const PipelineTimes &times);

} // namespace xlc

#endif
