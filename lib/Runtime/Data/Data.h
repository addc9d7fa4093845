// The data of a run, for training or evaluation: rows of each input, from a file or from a stream of tokens, in the
// order of Order.h. Files may change while the job runs. Each load therefore checks its ids in memory that nothing else
// writes, and the step uses those very bytes: no kernel reads an id outside its table. Small files of rows are checked
// completely before the first step; of larger files, only the first and last row, so that a job on a terabyte begins at
// once.
#ifndef XLC_LIB_RUNTIME_DATA_DATA_H
#define XLC_LIB_RUNTIME_DATA_DATA_H

#include "Chosen.h"
#include "InputRows.h"
#include "Order.h"

namespace xlc::runtime {

/// A file from which a run reads rows, and its description.
struct DataFile {
  std::string path, is;
};

/// All files that a run reads. Patterns without a match contribute none.
std::vector<DataFile> listDataFiles(const Plan &plan, const DataChoice &choice,
                                    plan::Purpose purpose = plan::Purpose::train);

class Data : public DataSource {
public:
  /// Opens the sources of all inputs of the plan. Throws Rejected with all errors.
  Data(const Plan &plan, const DataChoice &choice, Scan scan = Scan::Small,
       plan::Purpose purpose = plan::Purpose::train);

  /// The number of rows of an epoch.
  uint64_t rows() const { return order.rows(); }
  /// Call before the first load of a resumed run: step `step` (from 0) begins with sample `sample`.
  void continueFrom(uint64_t step, uint64_t sample) { shift = sample - step * globalBatch(plan); }
  /// The first sample of a load, counted from 0 over the run. For an input that is the whole of another, the first
  /// sample of its step.
  uint64_t firstSample(uint32_t input, uint64_t step, uint32_t microBatch, int rank) const;

  /// Row i is that of sample firstSample + i.
  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override {
    RowSink sink(take);
    load(input, step, microBatch, rank, sink, *blocks[rank]);
  }
  /// The same, through memory of the caller.
  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, RowSink &sink, Blocks &through) const;

  /// Finds NaN in the rows of a step: "FILE: the element in row 3, column 0 is NaN"; empty if there is none.
  std::string findNaN(uint64_t step) const;

  /// A description in one line: the number of rows and, for a stream, its files and the unused tokens at their ends.
  std::string describe() const;
  /// Null if no input reads a stream.
  const TokenStream *tokenStream() const { return stream.get(); }

private:
  void open(const plan::DatasetT &dataset, const DataChoice &choice, Scan scan, std::vector<std::string> &problems);
  void openStream(const Chosen &chosen, const plan::DatasetT &dataset, Scan scan);
  std::unique_ptr<RowSource> openSource(const Chosen &chosen, size_t input) const;
  void checkRowCounts(std::vector<std::string> &problems);
  void checkStandIns(Scan scan, std::vector<std::string> &problems) const;
  bool differs(uint32_t index, uint32_t other, uint64_t rows, uint64_t &row, uint64_t &column) const;

  const Plan &plan;
  const plan::Purpose purpose;
  std::unique_ptr<TokenStream> stream;
  std::vector<InputRows> inputs;               ///< indexed as plan.inputs
  std::vector<std::unique_ptr<Blocks>> blocks; ///< indexed by rank
  uint64_t rowCount = 0;                       ///< the rows of all inputs
  Order order;
  uint64_t shift = 0; ///< of samples, modulo 2^64, relative to a run with equal steps
};

} // namespace xlc::runtime

#endif
