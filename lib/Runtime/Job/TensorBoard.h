// Files that TensorBoard reads: records of events, each a number under a tag at a step.
//
//     record   length u64 | masked CRC-32C of it u32 | bytes | masked CRC-32C of them u32
//              masked: rotated by 15, plus a constant
//     bytes    an Event of tensorflow/core/util/event.proto
//
// Three fields are no reason to link protobuf into every program, so messages are written by hand. A start of a program
// has a file of its own. Behind a resume at step k the second record is a session log START with step k + 1:
// TensorBoard drops what runs before have written from there on.
#ifndef XLC_LIB_RUNTIME_JOB_TENSORBOARD_H
#define XLC_LIB_RUNTIME_JOB_TENSORBOARD_H

#include "Log.h"

#include <span>

namespace xlc::runtime {

/// CRC-32C (Castagnoli; RFC 3720, B.4).
uint32_t crc32c(std::string_view bytes);

class TensorBoard {
public:
  /// A new file in `folder`, which is made where it is missing. Throws Rejected.
  explicit TensorBoard(const std::string &folder);

  /// Before the first step: `done` steps have been done by runs before.
  void begin(uint64_t done);
  /// The numbers of a record that are known to people as those of a step: train/loss, eval/accuracy.
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
