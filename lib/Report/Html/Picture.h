// The data of a pipeline stage that a report draws: memory over the step, the map of the arena, the runs of a step.
#ifndef XLC_LIB_REPORT_HTML_PICTURE_H
#define XLC_LIB_REPORT_HTML_PICTURE_H

#include "xlc/Report/Report.h"

namespace xlc {

/// The part of a step that an action belongs to, for colours.
enum class StepPart { Forward, Backward, Update, Other };
constexpr size_t kStepParts = size_t(StepPart::Other) + 1;

/// As pages name it: "forward".
llvm::StringRef nameOf(StepPart part);

/// The part of a run's role.
StepPart partOf(graph::Role role);

/// Several moments of a step, represented by the fullest of them.
struct MemoryColumn {
  int64_t moment = 0; ///< the first of those with most bytes
  size_t action = 0;  ///< its index in StagePicture::actions
  StepPart part = StepPart::Other;
  std::array<int64_t, 6> byCause = {}; ///< bytes live then; index: exec::Cause

  int64_t total() const { return std::accumulate(byCause.begin(), byCause.end(), int64_t(0)); }
};

/// A buffer's position in the arena, in bytes, and in time, in moments.
struct MappedBuffer {
  std::string name;
  exec::Cause cause;
  int64_t offset, size, first, last;
};

/// Runs of one function: "layer[0] F", which 12 layers share.
struct RunLine {
  std::string label; ///< of its first run
  int64_t runs = 0;  ///< in a step
  Quantity flops;    ///< of all of them
};

struct StagePicture {
  static constexpr int64_t kColumns = 1000;     ///< at most
  static constexpr size_t kMapped = 1500;       ///< buffers of the map, at most
  static constexpr int64_t kMappedPart = 10000; ///< the map has buffers from this part of the arena on
  static constexpr size_t kLargest = 20;

  int64_t moments = 0;
  std::vector<std::string> actions; ///< labels, each once
  std::vector<MemoryColumn> columns;
  size_t fullest = 0; ///< the column with the fullest moment of the step
  std::vector<MappedBuffer> mapped;
  size_t unmapped = 0;             ///< buffers that are too small for the map
  std::vector<PeakBuffer> largest; ///< of the fullest moment, by size
  std::vector<RunLine> runs;       ///< in order of the program
};

/// Reads the program of a stage, whose buffers are placed, with its functions and kernels.
StagePicture makePicture(exec::ProgramOp program);

/// Memory over time alone, without the other parts.
StagePicture makeMemoryPicture(exec::ProgramOp program);

} // namespace xlc

#endif
