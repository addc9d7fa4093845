// Writes files for TensorBoard: records of events, each a number under a tag at a step.
//
//     record   length u64 | masked CRC-32C of it u32 | bytes | masked CRC-32C of them u32
//              masked: rotated by 15, plus a constant
//     bytes    an Event of tensorflow/core/util/event.proto
//
// Three fields do not justify linking protobuf into every program, so messages are encoded by hand. Each start of a
// program creates a file of its own. After a resume at step k, the second record is a session log START with step k +
// 1: TensorBoard drops the records of earlier runs from that step on.
#ifndef XLC_LIB_RUNTIME_JOB_TENSORBOARD_H
#define XLC_LIB_RUNTIME_JOB_TENSORBOARD_H

#include "Log.h"

#include <span>

namespace xlc::runtime {

/// CRC-32C (Castagnoli; RFC 3720, B.4).
uint32_t crc32c(std::string_view bytes);

class TensorBoard {
public:
  /// Creates a new file in `folder`, which is created if it is missing. Throws Rejected.
  explicit TensorBoard(const std::string &folder);

  /// Call before the first step, after `done` steps of earlier runs.
  void begin(uint64_t done);
  /// Writes the numbers of a record under their usual names: train/loss, eval/accuracy.
  void write(const LogRecord &record);
  void check() const { lines.check(); }

private:
  void writeEvent(const std::string &fields);

  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  const std::string path;
  std::unique_ptr<FILE, Close> file;
  Lines lines;
};

} // namespace xlc::runtime

#endif
