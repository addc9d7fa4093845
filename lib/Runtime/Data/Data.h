// The data of a run, on which it trains or evaluates: rows of each input, from a file or from a stream of tokens, in
// the order of Order.h. Files may change while the job runs: each load checks its ids, in memory that nobody
// else writes, and those very bytes are what the step uses. No kernel sees an id that is outside of its table. Files of
// rows that are not large are checked whole before the first step, of others their first and last row, so that a job on
// a terabyte begins at once.
#ifndef XLC_LIB_RUNTIME_DATA_DATA_H
#define XLC_LIB_RUNTIME_DATA_DATA_H

#include "Chosen.h"
#include "InputRows.h"
#include "Order.h"

namespace xlc::runtime {

/// A file that a run reads rows from, and what it is.
struct DataFile {
  std::string path, is;
};

/// All files that a run reads. Those of patterns that match nothing are not there.
std::vector<DataFile> listDataFiles(const Plan &plan, const DataChoice &choice,
                                    plan::Purpose purpose = plan::Purpose::train);

class Data : public DataSource {
public:
  /// Opens what every input of the plan reads. Throws Rejected with all that is wrong.
  Data(const Plan &plan, const DataChoice &choice, Scan scan = Scan::Small,
       plan::Purpose purpose = plan::Purpose::train);

  /// Rows of an epoch.
  uint64_t rows() const { return order.rows(); }
  /// Before the first load, of a run that goes on: step `step` (from 0) begins with sample `sample`.
  void continueFrom(uint64_t step, uint64_t sample) { shift = sample - step * globalBatch(plan); }
  /// The first sample of a load: of the run, from 0. Of an input that is the whole of another, the first of its step.
  uint64_t firstSample(uint32_t input, uint64_t step, uint32_t microBatch, int rank) const;

  /// Row i is that of sample firstSample + i.
  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override {
    RowSink sink(take);
    load(input, step, microBatch, rank, sink, *blocks[rank]);
  }
  /// The same, by way of memory of the caller.
  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, RowSink &sink, Blocks &through) const;

  /// What rows of a step have a number that is none: "FILE: row 3, column 0 is not a number"; empty where there
  /// is none.
  std::string findNaN(uint64_t step) const;

  /// In a line: rows, and of a stream its files and the tokens that are left at their ends.
  std::string describe() const;
  /// Null: no input reads one.
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
  std::vector<InputRows> inputs;               ///< as plan.inputs
  std::vector<std::unique_ptr<Blocks>> blocks; ///< by rank
  uint64_t rowCount = 0;                       ///< that they have
  Order order;
  uint64_t shift = 0; ///< of samples, modulo 2^64, against a run whose every step had as many
};

} // namespace xlc::runtime

#endif
