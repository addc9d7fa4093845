// Implements --predict: for each output of the plan, writes a file NAME.npy in which row i belongs to row i of the
// data. Every rank writes its own rows at their places, so that nothing is gathered. Ranks of one tensor-parallel group
// have the same values; the first of them writes.
//
//     FOLDER/logits.npy.part    created by rank 0 before the first row, with its full size
//     FOLDER/logits.npy         the same after the last row
#ifndef XLC_LIB_RUNTIME_JOB_PREDICTIONS_H
#define XLC_LIB_RUNTIME_JOB_PREDICTIONS_H

#include "Device/DataSource.h"
#include "Plan/Plan.h"

#include <memory>
#include <string>
#include <vector>

namespace xlc::runtime {

/// The file that --predict writes for an output into a folder, and its temporary name until all rows are written.
std::string predictionPath(const std::string &folder, const plan::OutputT &output);
std::string unfinishedPath(const std::string &predictionPath);

class Predictions : public OutputSink {
public:
  /// Predictions for `rows` rows of data. Throws Rejected if the plan has no outputs.
  Predictions(const Plan &plan, const std::string &folder, uint64_t rows);
  /// Removes files that are not published.
  ~Predictions() override;

  /// Call on rank 0: creates the folder and the files. Throws Rejected.
  void create();
  /// Call in every process, after rank 0 has created the files. Throws Rejected.
  void open();
  /// Call on rank 0 when all ranks have written all rows. Returns a line that describes the written files.
  std::string publish();

  bool takes(uint32_t output, uint64_t step, uint32_t microBatch, int rank) const override;
  void take(uint32_t output, uint64_t step, uint32_t microBatch, int rank, const char *samples) override;

private:
  uint64_t firstRow(uint64_t step, uint32_t microBatch, int rank) const;
  std::string pathOf(uint32_t output) const;

  const Plan &plan;
  const std::string folder;
  const uint64_t rows;
  std::vector<std::string> headers; ///< indexed as plan.outputs
  std::vector<int> files;           ///< indexed likewise; -1: not open
  std::vector<bool> isMade;         ///< created by this process and not published
};

} // namespace xlc::runtime

#endif
