// Reads rows before they are needed. One thread of a process reads for all of its ranks, in the order of each rank's
// loads, into memory for as many loads as ReadAhead.h states. A load then only copies.
//
//   rank's loads      step 1: micro 0 | micro 1      step 2: micro 0 | micro 1      step 3: ...
//   given             ^ taken                         up to `filled` they are in memory, in slot n mod slots
//
// The rank with the fewest steps read ahead is served first. An error of a read is thrown by the load that needs the
// rows, and not earlier: they may never be needed.
#ifndef XLC_LIB_RUNTIME_DATA_PREFETCH_H
#define XLC_LIB_RUNTIME_DATA_PREFETCH_H

#include "Data.h"
#include "xlc/Runtime/ReadAhead.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace xlc::runtime {

class Prefetch : public DataSource {
public:
  /// Reads from `data`. A wait for a read ends when `stop` is raised.
  Prefetch(const Plan &plan, const Data &data, const StopSignal &stop);
  ~Prefetch() override;

  /// Allocates memory for the given ranks, which are those of this process.
  void reserve(int first, int count);
  /// Starts to read the rows of steps [begin, end), from 0. Throws std::system_error if the system cannot create the
  /// thread.
  void start(uint64_t begin, uint64_t end);

  /// Passes rows that were read ahead to `take`. Reads them now if they are not the rank's next load.
  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override;

  /// The bytes of memory for a rank of this process.
  uint64_t bytesOf(int rank) const;

private:
  struct Ring;
  void read();
  void fill(Ring &ring);
  Ring *findNext() const;

  const Plan &plan;
  const Data &data;
  uint64_t steps = 0; ///< the step before which reading ahead ends
  const StopSignal &stop;
  std::vector<std::unique_ptr<Ring>> rings; ///< by rank; null: another process, or no loads
  std::unique_ptr<Blocks> through;
  mutable std::mutex mutex;
  mutable std::condition_variable isFilled, hasRoom;
  bool isEnding = false;
  std::thread thread;
};

} // namespace xlc::runtime

#endif
