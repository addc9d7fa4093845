// Reads rows before they are needed. One thread of a process reads for all of its ranks, in the order of each
// rank's loads, into memory of as many loads as ReadAhead.h says; a load then copies.
//
//   rank's loads      step 1: micro 0 | micro 1      step 2: micro 0 | micro 1      step 3: ...
//   given             ^ taken                         up to `filled` they are in memory, in slot n mod slots
//
// The rank that is the fewest steps ahead is read for first. What could not be read is thrown by the load that
// needs it, and not before: it may never be needed.
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
  /// Reading is by `data`; a wait for it ends where `stop` is raised.
  Prefetch(const Plan &plan, const Data &data, const StopSignal &stop);
  ~Prefetch() override;

  /// Gets memory for these ranks, which are those of this process.
  void reserve(int first, int count);
  /// Begins to read the rows of steps [begin, end), from 0. Throws std::system_error where the system refuses the
  /// thread.
  void start(uint64_t begin, uint64_t end);

  /// What was read ahead; reads it now where it is not the next of the rank's loads.
  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override;

  /// Memory of a rank of this process.
  uint64_t bytesOf(int rank) const;

private:
  struct Ring;
  void read();
  void fill(Ring &ring);
  Ring *findNext() const;

  const Plan &plan;
  const Data &data;
  uint64_t steps = 0; ///< up to which rows are read ahead
  const StopSignal &stop;
  std::vector<std::unique_ptr<Ring>> rings; ///< by rank; null: of another process, or without loads
  std::unique_ptr<Blocks> through;
  mutable std::mutex mutex;
  mutable std::condition_variable isFilled, hasRoom;
  bool isEnding = false;
  std::thread thread;
};

} // namespace xlc::runtime

#endif
