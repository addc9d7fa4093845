// The interface by which the executor requests the rows of a step.
#ifndef XLC_LIB_RUNTIME_DEVICE_DATASOURCE_H
#define XLC_LIB_RUNTIME_DEVICE_DATASOURCE_H

#include <cstdint>
#include <functional>

namespace xlc::runtime {

/// Receives `count` bytes in host memory, which follow those of the previous call.
using Take = std::function<void(const void *bytes, uint64_t count)>;

/// Passes the numbers of `count` samples, beginning at `first`, to `take` as i64.
inline void giveSampleNumbers(uint64_t first, uint64_t count, const Take &take) {
  for (uint64_t i = first; i < first + count; ++i)
    take(&i, sizeof i);
}

/// Stands for the number of a sample that the data of an evaluation do not have.
inline constexpr int64_t kNoSample = -1;

class DataSource {
public:
  virtual ~DataSource() = default;
  /// Passes the rows of micro-batch `microBatch` of `rank` in step `step` (from 0) of input `input` to `take`, in the
  /// input's type. Throws std::runtime_error, with the name of their source, if they are not available.
  virtual void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const = 0;
};

/// Receives the outputs of the model from programs that evaluate. Several ranks and streams call it at the same time;
/// take() throws Rejected if the rows cannot be written.
class OutputSink {
public:
  virtual ~OutputSink() = default;
  /// Whether the sink receives a rank's samples of a micro-batch in a step (from 0) of output `output`.
  virtual bool takes(uint32_t output, uint64_t step, uint32_t microBatch, int rank) const = 0;
  /// Receives all samples of the micro-batch, in the output's type, in host memory.
  virtual void take(uint32_t output, uint64_t step, uint32_t microBatch, int rank, const char *samples) = 0;
};

} // namespace xlc::runtime

#endif
