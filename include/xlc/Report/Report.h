// The costs of a plan: one plain struct, made from the `exec` program, printed as a table or as JSON. Bytes are those
// that the program allocates and moves; none of them is estimated. Seconds are predictions.
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
  std::string name; ///< of the tensor; a bucket's buffers list its parameters
  exec::Cause cause;
  int64_t bytes;
};

/// Memory of one rank, in bytes.
struct MemoryReport {
  std::array<int64_t, 6> byCause = {}; ///< live at the peak; index: exec::Cause
  /// The same by the element type of the functions that read or write the bytes ("bf16"); for mixed precision only.
  std::array<std::map<std::string, int64_t>, 6> byType;
  int64_t arena = 0;      ///< bytes allocated
  int64_t lowerBound = 0; ///< live at the peak, all causes
  std::optional<int64_t>
      evaluation; ///< live at the peak of an evaluation, which uses the same arena; none: no evaluation
  std::vector<OutsideLine> outside; ///< memory allocated outside the arena
  int64_t data = 0;                 ///< host memory for rows that are read ahead; not in the total
  std::string peakAction;           ///< the action at the peak
  std::vector<PeakBuffer> largest;  ///< the largest buffers that are live at the peak, at most ten, by size

  int64_t gaps() const { return arena - lowerBound; }
  int64_t total() const { return arena + sumOf(outside); }
  double heightOverLowerBound() const { return lowerBound ? double(arena) / double(lowerBound) : 1; }
};

/// Ranks with equal plans.
struct GroupReport {
  int64_t stage = 0; ///< the pp index
  std::vector<int64_t> ranks;
  MemoryReport memory;
  Traffic traffic; ///< of the rank that reads most; ranks differ by the short slice of an all_reduce
  ZeroPrice price;
  StepCost cost;
  StageTime work; ///< prediction from computed work alone, one second per floating-point operation
  StageTime time; ///< prediction for the plan on the spec's device, if it names one
  /// Bytes that the windows of messages on a stream add to the peak.
  std::array<int64_t, exec::getMaxEnumValForStream() + 1> windowBytes = {};
  int64_t residualSlots = 0; ///< number of micro-batches (of a chunk) whose residuals are in memory at once
};

/// The requirements of the same spec in float32.
struct WideReport {
  int64_t total = 0; ///< bytes of the fullest rank
  Quantity traffic;  ///< read in a step by the rank that reads most
};

/// The requirements of a checkpoint.
struct CheckpointReport {
  int64_t rank = 0;   ///< bytes of the files of the rank that writes most
  int64_t files = 0;  ///< bytes of all ranks, without the manifest, whose size depends on the run
  int64_t copy = 0;   ///< bytes of host memory, of the rank that copies most before training continues
  double disk = 0;    ///< bytes per second that a machine writes
  double seconds = 0; ///< of the machine that writes most
};

struct PlanReport {
  Spec spec;
  std::optional<CheckpointReport> checkpoint; ///< if the spec enables checkpoints
  std::optional<WideReport> wide;             ///< for mixed precision, if float32 can be planned
  std::string products;                       ///< for mixed precision: how the target multiplies narrow operands
  ZeroChoice zero;
  ChunkChoice chunk;
  bool dropsAttention = false; ///< the model has an attention with dropout
  double blockingStep = 0;     ///< seconds on the spec's device if every message blocked
  int64_t pp = 1, tp = 1;
  std::vector<GroupReport> groups; ///< by stage
  Traffic allRanks;
  std::vector<Change> changes; ///< set by findChanges if the plan does not fit

  int64_t largestTotal() const;
  /// The work of the slowest stage divided by the mean over stages; 1 if all are equal.
  double imbalance() const;
  Quantity largestTraffic() const;
  /// Of the stage whose ranks read most over dp.
  ZeroPrice zeroPrice() const;
  /// Whether attention is lowered to products because it has dropout.
  bool splitsAttention() const { return dropsAttention && !spec.targetFacts().fusesDroppingAttention; }
  /// Whether every rank fits into the memory given in the spec; true if the spec gives none.
  bool fits() const;
};

/// Reads the programs of all stages with their functions and kernels. Their buffers must be placed. `zero` is the
/// choice that was passed to DataParallel.
PlanReport makeReport(mlir::ModuleOp module, const Spec &spec, const Target &target, const ZeroChoice &zero = {});

/// Prints a table for people, at most 100 columns wide. `model` is the file's name. If there are many pipeline stages,
/// each has one line, and only the first, the fullest and the last (with isVerbose, all) are printed in full.
void printTable(const PlanReport &report, llvm::StringRef model, bool isVerbose, llvm::raw_ostream &out);

/// Prints the `changes` that would make a plan fit. Called after printTable, because finding them takes many plans.
void printChanges(const PlanReport &report, llvm::raw_ostream &out);

/// Prints JSON. The keys are stable and described in docs/PlanJson.md.
void printJson(const PlanReport &report, llvm::StringRef model, llvm::raw_ostream &out);

/// Prints one self-contained page of HTML with figures: memory over the step, the arena, the timeline of the step, and
/// the values of printTable. `module` is the module after Memory.
void printHtml(const PlanReport &report, mlir::ModuleOp module, const Target &target, llvm::StringRef model,
               llvm::raw_ostream &out);

/// Prints the predicted timeline of a step in the Trace Event Format of https://ui.perfetto.dev: a process per pipeline
/// stage with a row per stream. `module` is the module after Memory.
void printTrace(mlir::ModuleOp module, const Spec &spec, const Target &target, llvm::raw_ostream &out);

} // namespace xlc

#endif
