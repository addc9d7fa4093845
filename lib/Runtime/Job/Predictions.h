// What --predict writes: of each output of the plan a file NAME.npy, in which row i is that of row i of the data. Every
// rank writes its own rows where they belong, so that nothing is gathered; ranks of one tensor-parallel group have the
// same values, and the first of them writes.
//
//     FOLDER/logits.npy.part    made by rank 0 before the first row, of its full size
//     FOLDER/logits.npy         the same behind the last one
#ifndef XLC_LIB_RUNTIME_JOB_PREDICTIONS_H
#define XLC_LIB_RUNTIME_JOB_PREDICTIONS_H

#include "Device/DataSource.h"
#include "Plan/Plan.h"

#include <memory>
#include <string>
#include <vector>

namespace xlc::runtime {

/// Of an output: the file that --predict writes into a folder, and the one that it is until all rows are there.
std::string predictionPath(const std::string &folder, const plan::OutputT &output);
std::string unfinishedPath(const std::string &predictionPath);

class Predictions : public OutputSink {
public:
  /// For `rows` rows of data. Throws Rejected where the plan has no outputs.
  Predictions(const Plan &plan, const std::string &folder, uint64_t rows);
  /// Removes files that are not published.
  ~Predictions() override;

  /// On rank 0: makes the folder and the files. Throws Rejected.
  void create();
  /// In every process, when rank 0 has made them. Throws Rejected.
  void open();
  /// On rank 0, when all ranks have written all rows. Returns what was written, in a line.
  std::string publish();

  bool takes(uint32_t output, uint64_t step, uint32_t microBatch, int rank) const override;
  void take(uint32_t output, uint64_t step, uint32_t microBatch, int rank, const char *samples) override;

private:
  uint64_t firstRow(uint64_t step, uint32_t microBatch, int rank) const;
  std::string pathOf(uint32_t output) const;

  const Plan &plan;
  const std::string folder;
  const uint64_t rows;
  std::vector<std::string> headers; ///< as plan.outputs
  std::vector<int> files;           ///< likewise; -1: not open
  std::vector<bool> isMade;         ///< by this process, and not published
};

} // namespace xlc::runtime

#endif
