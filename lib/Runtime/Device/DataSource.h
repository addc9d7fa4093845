// Where the rows of a step come from, as the executor asks for them.
#ifndef XLC_LIB_RUNTIME_DEVICE_DATASOURCE_H
#define XLC_LIB_RUNTIME_DEVICE_DATASOURCE_H

#include <cstdint>
#include <functional>

namespace xlc::runtime {

/// Takes `count` bytes of the host's memory, which follow those that it took before.
using Take = std::function<void(const void *bytes, uint64_t count)>;

/// The numbers of `count` samples, from `first` on, as i64.
inline void giveSampleNumbers(uint64_t first, uint64_t count, const Take &take) {
  for (uint64_t i = first; i < first + count; ++i)
    take(&i, sizeof i);
}

/// In place of the number of a sample that an evaluation's data do not have.
inline constexpr int64_t kNoSample = -1;

class DataSource {
public:
  virtual ~DataSource() = default;
  /// Gives the rows of micro-batch `microBatch` of `rank` in step `step` (from 0) of input `input`, in the input's type.
  /// Throws std::runtime_error, naming where they come from, if they cannot be had.
  virtual void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const = 0;
};

/// Receives the outputs of the model from programs that evaluate. Called by several ranks and streams at the same time;
/// take() throws Rejected where the rows cannot be written.
class OutputSink {
public:
  virtual ~OutputSink() = default;
  /// Whether it takes what a rank has of a micro-batch in a step (from 0) of output `output`.
  virtual bool takes(uint32_t output, uint64_t step, uint32_t microBatch, int rank) const = 0;
  /// All samples of the micro-batch, in the output's type, in the host's memory.
  virtual void take(uint32_t output, uint64_t step, uint32_t microBatch, int rank, const char *samples) = 0;
};

} // namespace xlc::runtime

#endif
