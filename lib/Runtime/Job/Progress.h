// The output of a step or an evaluation: a line, a progress bar on a terminal, a record of the log and of charts.
#ifndef XLC_LIB_RUNTIME_JOB_PROGRESS_H
#define XLC_LIB_RUNTIME_JOB_PROGRESS_H

#include "Evaluation.h"
#include "Options.h"
#include "TensorBoard.h"

namespace xlc::runtime {

struct StepResult {
  uint64_t step; ///< counts from 1
  float loss, norm;
  double learningRate; ///< that of the first group
  double seconds; ///< from the end of the previous step to that of this one, on rank 0, without writing these numbers
  double samplesPerSecond;
  double checkpointSeconds; ///< the part of `seconds` in which rank 0 waited for checkpoints

  struct Scale {
    float factor; ///< the factor on the loss in this step
    bool isSkipped;
    uint64_t skipped; ///< skipped steps so far, including this one
    uint64_t skippedInRow;
    bool isSpent; ///< the factor cannot be reduced
  };
  std::optional<Scale> scale;
};

/// Clears the bar, so that a line of text can follow.
void clearBar();
/// Writes a message to stderr, on a line of its own.
void sayAboveBar(const std::string &message);

class Progress {
public:
  /// Throws Rejected if the log or the files for TensorBoard cannot be written.
  Progress(const Plan &plan, const Options &options);
  ~Progress();

  /// Call before the first step of this run, after `done` of `count` steps in earlier runs: removes records of repeated
  /// steps from the log. Prints the first line of data from a stream of tokens: rows, and unused tokens at the ends of
  /// files.
  void begin(const Data &data, uint64_t done, uint64_t count);
  void show(const StepResult &result);
  void show(const EvaluationResult &result);
  void log(const std::string &line) { file.writeLine(line); }
  void print(const std::string &text) { results.write(text); }

  /// Throws Rejected if a line of the output or the log could not be written. The error was reported when it occurred,
  /// and training continued.
  void checkWritten() const;

private:
  void record(const LogRecord &record);
  void showBar(uint64_t step) const;

  Log file;
  std::optional<TensorBoard> charts;
  Lines results{"standard output", stdout};
  uint64_t done = 0, steps = 0; ///< steps of earlier runs; steps of the whole run
  uint64_t tokensOfSample = 0;  ///< 0: the data are not a stream of tokens
  double seconds = 0;           ///< total of the steps of this run
  const double productSeconds;  ///< of a step, at the device's rate; 0: unknown
  std::string lastEvaluation;   ///< the text of the bar
  const bool bar, showsData;    ///< with --generate, stdout contains only the generated text
};

} // namespace xlc::runtime

#endif
