// What a user sees of a step: a line, a progress bar on a terminal, a line of the log.
#ifndef XLC_LIB_RUNTIME_JOB_PROGRESS_H
#define XLC_LIB_RUNTIME_JOB_PROGRESS_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace xlc::runtime {

class Data;

struct StepResult {
  uint64_t step; ///< from 1
  float loss, norm;
  double learningRate; ///< of the first group
  double seconds; ///< from the end of the step before to that of this one, on rank 0, without what writing them takes
  double samplesPerSecond;
  double checkpointSeconds; ///< of `seconds`: how long rank 0 waited for checkpoints

  struct Scale {
    float factor; ///< on the loss, in this step
    bool isSkipped;
    uint64_t skipped; ///< steps until now, this one included
    uint64_t skippedInRow;
    bool isSpent; ///< cannot become smaller
  };
  std::optional<Scale> scale;
};

/// Takes the bar away, so that a message can stand on a line of its own.
void clearBar();

class Progress {
public:
  /// `logPath` may be empty; `goesOn`: what is in it stays, as far as `begin` says. Throws Rejected where the log
  /// cannot be written.
  Progress(const std::string &logPath, bool goesOn);
  ~Progress();

  /// Before the first step of this run, `done` steps of `count` having been done by others: takes lines of steps that
  /// are done again out of the log. The first line of data that are a stream of tokens: rows, and what is left at the
  /// ends of files.
  void begin(const Data &data, uint64_t done, uint64_t count);
  void show(const StepResult &result);

  /// Throws Rejected where a line, or one of the log, could not be written. That was said when it happened; training
  /// went on.
  void checkWritten() const;

private:
  /// Lines that go to a file, and why one could not, if so.
  struct Lines {
    const std::string name;
    FILE *const file;
    std::string failure;
  };
  void write(Lines &lines, const std::string &line);

  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<FILE, Close> log;
  Lines results{"standard output", stdout, {}}, logged;
  uint64_t steps = 0;
  const bool goesOn, bar;
};

} // namespace xlc::runtime

#endif
