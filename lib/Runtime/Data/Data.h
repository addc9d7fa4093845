// The training data: one .npy file per model input, consumed in order. Files are checked whole before the first step,
// and may change while the job runs: so ids are checked again in every load, in memory that nobody else writes, and
// those very bytes are what the step uses. No kernel sees an id that is outside of its table.
#ifndef XLC_LIB_RUNTIME_DATA_DATA_H
#define XLC_LIB_RUNTIME_DATA_DATA_H

#include "Device/DataSource.h"
#include "Files/Npy.h"
#include "Plan/Plan.h"

#include <map>

namespace xlc::runtime {

/// The file of an input: of `files` by its name, else `folder`/NAME.npy where `folder` is not empty, else the plan's
/// path; empty where there is none.
std::string findDataPath(const Plan &plan, const plan::InputT &input, const std::map<std::string, std::string> &files,
                         const std::string &folder);

class Data : public DataSource {
public:
  /// Opens the file of every input of the plan, as findDataPath. Throws Rejected with all that is wrong.
  Data(const Plan &plan, const std::map<std::string, std::string> &files, const std::string &folder);

  uint64_t rows() const { return rowCount; }

  /// Row i is (step * G + (microBatch * dp + dp index) * micro + i) modulo the rows, G the global batch. Of an input
  /// that is the whole of another, all rows of the step: row i is (step * G + i) modulo the rows.
  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override;

  /// What rows of a step have a number that is none: "FILE: row 3, column 0 is not a number"; empty where there is none.
  std::string findNaN(uint64_t step) const;

private:
  /// What a rank has in hand: elements as they are stored, and in the type of their input.
  struct Blocks {
    static constexpr uint64_t bytes = 1 << 16;
    char stored[bytes], converted[bytes];
  };
  void checkStandIns(std::vector<std::string> &problems) const;
  void loadElements(uint32_t input, uint64_t from, uint64_t count, int rank, const Take &take) const;

  const Plan &plan;
  std::vector<std::unique_ptr<NpyFile>> files; ///< as plan.inputs
  std::vector<std::unique_ptr<Blocks>> blocks; ///< by rank
  uint64_t rowCount = 0;
};

} // namespace xlc::runtime

#endif
