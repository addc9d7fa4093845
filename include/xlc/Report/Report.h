// What a plan means for the person who pays for the memory: one plain struct, made from the `exec` program, shown as a
// table or as JSON. Bytes are those that the program allocates and moves, nothing of them is estimated; seconds are
// predictions.
#ifndef XLC_REPORT_REPORT_H
#define XLC_REPORT_REPORT_H

#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Estimate/Cost.h"
#include "xlc/Estimate/StepTimes.h"
#include "xlc/Estimate/Traffic.h"
#include "xlc/Search/Changes.h"
#include "xlc/Search/ChunkChoice.h"
#include "xlc/Spec/Spec.h"
#include "xlc/Target/Target.h"
#include <array>
#include <map>

namespace xlc {

/// A buffer that is live at the peak.
struct PeakBuffer {
  std::string name; ///< of the tensor; a bucket's buffers name its parameters
  exec::Cause cause;
  int64_t bytes;
};

/// Memory of one rank, in bytes.
struct MemoryReport {
  std::array<int64_t, 6> byCause = {}; ///< live at the peak; index: exec::Cause
  /// The same by the elements' type ("bf16"), where a function reads or writes them; of mixed precision only.
  std::array<std::map<std::string, int64_t>, 6> byType;
  int64_t arena = 0;      ///< what is allocated
  int64_t lowerBound = 0; ///< live at the peak, all causes
  std::optional<int64_t>
      evaluation; ///< live at the peak of an evaluation, which has the same arena; none: there is none
  std::vector<OutsideLine> outside; ///< what is allocated beside it
  int64_t data = 0;                 ///< of the host, for rows that are read ahead; not in the total
  std::string peakAction;           ///< the action during which the peak is reached
  std::vector<PeakBuffer> largest;  ///< of those live at the peak, at most ten, by size

  int64_t gaps() const { return arena - lowerBound; }
  int64_t total() const { return arena + sumOf(outside); }
  double heightOverLowerBound() const { return lowerBound ? double(arena) / double(lowerBound) : 1; }
};

/// Ranks with equal plans.
struct GroupReport {
  int64_t stage = 0; ///< the pp index
  std::vector<int64_t> ranks;
  MemoryReport memory;
  Traffic traffic; ///< of the rank that reads most; they differ by the short slice of an all_reduce
  ZeroPrice price;
  StepCost cost;
  StageTime work; ///< as computed work alone predicts it, a floating-point operation a second
  StageTime time; ///< on the spec's device, where it has one: as the plan runs it
  /// Bytes by which windows of messages on a stream raise the fullest moment.
  std::array<int64_t, exec::getMaxEnumValForStream() + 1> windowBytes = {};
  int64_t residualSlots = 0; ///< micro-batches (of a chunk) whose residuals are in memory at once
};

/// What the same spec takes in float32.
struct WideReport {
  int64_t total = 0; ///< bytes of the fullest rank
  Quantity traffic;  ///< that the rank which reads most reads in a step
};

/// What a checkpoint takes.
struct CheckpointReport {
  int64_t rank = 0;   ///< bytes of the files of the rank that writes most
  int64_t files = 0;  ///< of all ranks; the manifest, whose size depends on the run, is not among them
  int64_t copy = 0;   ///< bytes of host memory of the rank that copies most before training goes on
  double disk = 0;    ///< bytes per second that a machine writes
  double seconds = 0; ///< of the machine that writes most
};

struct PlanReport {
  Spec spec;
  std::optional<CheckpointReport> checkpoint; ///< where the spec asks for checkpoints
  std::optional<WideReport> wide;             ///< of mixed precision, where it can be planned
  std::string products;                       ///< of mixed precision: how the target multiplies narrow operands
  ZeroChoice zero;
  ChunkChoice chunk;
  bool dropsAttention = false; ///< an attention of the model drops probabilities
  double blockingStep = 0;     ///< seconds on the spec's device where every message were waited for
  int64_t pp = 1, tp = 1;
  std::vector<GroupReport> groups; ///< by stage
  Traffic allRanks;
  std::vector<Change> changes; ///< filled by findChanges where the plan does not fit

  int64_t largestTotal() const;
  /// The work of the slowest stage over that of the mean one: 1 where all have the same.
  double imbalance() const;
  Quantity largestTraffic() const;
  /// Of the stage whose ranks read most over dp.
  ZeroPrice zeroPrice() const;
  /// Whether attention is products because it drops probabilities.
  bool splitsAttention() const { return dropsAttention && !spec.targetFacts().fusesDroppingAttention; }
  /// Whether every rank fits into the memory that the spec names; true where it names none.
  bool fits() const;
};

/// Reads the programs of all stages, whose buffers are placed, with their functions and kernels. `zero` is what
/// DataParallel was told.
PlanReport makeReport(mlir::ModuleOp module, const Spec &spec, const Target &target, const ZeroChoice &zero = {});

/// For people, at most 100 columns. `model` is the file's name. Of many pipeline stages each has a line; in full are
/// the first, the fullest and the last, or (isVerbose) all.
void printTable(const PlanReport &report, llvm::StringRef model, bool isVerbose, llvm::raw_ostream &out);

/// What would make a plan fit that does not: its `changes`. After printTable, since they take as many plans to find.
void printChanges(const PlanReport &report, llvm::raw_ostream &out);

/// For programs. The keys are stable and described in docs/PlanJson.md.
void printJson(const PlanReport &report, llvm::StringRef model, llvm::raw_ostream &out);

/// One page of HTML with pictures, which needs nothing beside it: memory over the step, the arena, the step in time,
/// and the figures of printTable. `module` is as Memory leaves it.
void printHtml(const PlanReport &report, mlir::ModuleOp module, const Target &target, llvm::StringRef model,
               llvm::raw_ostream &out);

/// The predicted timeline of a step, a process per pipeline stage with a row per stream, in the Trace Event Format of
/// https://ui.perfetto.dev. `module` is as Memory leaves it.
void printTrace(mlir::ModuleOp module, const Spec &spec, const Target &target, llvm::raw_ostream &out);

} // namespace xlc

#endif
