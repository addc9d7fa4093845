// What the rows of a run were, as one number that no layout, thread or file format changes: the sum, modulo
// 2^64, over all samples and inputs, of XXH3 with 64 bits of the row's bytes, in the type of the input, with
// the sample's number as seed. Each row counts where it is read first: on the first stage that loads its input,
// and of tensor-parallel ranks by the first. Inputs that hold the rows of a whole step are no inputs of their
// own.
#ifndef XLC_LIB_RUNTIME_DATA_ROWSUM_H
#define XLC_LIB_RUNTIME_DATA_ROWSUM_H

#include "Data.h"
#include "Files/Checksum.h"

#include <vector>

namespace xlc::runtime {

class RowSum : public DataSource {
public:
  /// Of what `source` gives of `data`.
  RowSum(const Plan &plan, const DataSource &source, const Data &data);

  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override;
  /// Of the rows that a rank has loaded and that count there.
  uint64_t of(int rank) const { return sums[rank].sum; }

private:
  bool counts(uint32_t input, int rank) const;

  struct alignas(64) Sum {
    uint64_t sum = 0;
    Checksum row;
  };
  const Plan &plan;
  const DataSource &source;
  const Data &data;                  ///< which numbers samples
  std::vector<uint32_t> firstStages; ///< by input: that loads it first
  mutable std::vector<Sum> sums;     ///< by rank, each of its thread that loads
};

} // namespace xlc::runtime

#endif
