// A checksum of the rows of a run, which does not depend on layout, threads or file format: the sum, modulo 2^64, over
// all samples and inputs, of the 64-bit XXH3 of the row's bytes in the type of the input, with the number of the sample
// as seed. Each row is counted once: on the first stage that loads its input and, among tensor-parallel ranks, on the
// first. Inputs that hold the rows of a whole step are not counted separately.
#ifndef XLC_LIB_RUNTIME_DATA_ROWSUM_H
#define XLC_LIB_RUNTIME_DATA_ROWSUM_H

#include "Data.h"
#include "Files/Checksum.h"

#include <vector>

namespace xlc::runtime {

class RowSum : public DataSource {
public:
  /// Sums the rows of `data` that `source` loads.
  RowSum(const Plan &plan, const DataSource &source, const Data &data);

  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override;
  /// The sum of the rows that a rank has loaded and that are counted there.
  uint64_t of(int rank) const { return sums[rank].sum; }

private:
  bool counts(uint32_t input, int rank) const;

  struct alignas(64) Sum {
    uint64_t sum = 0;
    Checksum row;
  };
  const Plan &plan;
  const DataSource &source;
  const Data &data;                  ///< defines the numbers of samples
  std::vector<uint32_t> firstStages; ///< by input: the first stage that loads it
  mutable std::vector<Sum> sums;     ///< by rank; each is written by the rank's loading thread
};

} // namespace xlc::runtime

#endif
