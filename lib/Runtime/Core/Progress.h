// What a user sees of a step: a line, a progress bar on a terminal, a line of the log.
#ifndef XLC_LIB_RUNTIME_CORE_PROGRESS_H
#define XLC_LIB_RUNTIME_CORE_PROGRESS_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace xlc::runtime {

struct StepResult {
  uint64_t step; ///< from 1
  float loss, norm;
  double learningRate, seconds, samplesPerSecond;
};

class Progress {
public:
  /// `logPath` may be empty. Throws Rejected where the log cannot be written.
  Progress(const std::string &logPath, uint64_t steps);
  ~Progress();

  void show(const StepResult &result);

  /// Throws Rejected where a line, or one of the log, could not be written. Training goes on until then.
  void checkWritten() const;

  /// Takes the bar away, so that a message can stand on a line of its own.
  void clear() const;

private:
  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  const std::string logPath;
  std::unique_ptr<FILE, Close> log;
  const uint64_t steps;
  const bool bar;
};

} // namespace xlc::runtime

#endif
