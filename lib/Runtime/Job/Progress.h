// What a user sees of a step or an evaluation: a line, a progress bar on a terminal, a record of the log and of charts.
#ifndef XLC_LIB_RUNTIME_JOB_PROGRESS_H
#define XLC_LIB_RUNTIME_JOB_PROGRESS_H

#include "Evaluation.h"
#include "Options.h"
#include "TensorBoard.h"

namespace xlc::runtime {

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
  /// Throws Rejected where the log or the files for TensorBoard cannot be written.
  Progress(const Plan &plan, const Options &options);
  ~Progress();

  /// Before the first step of this run, `done` steps of `count` having been done by others: takes records of steps that
  /// are done again out of the log. The first line of data that are a stream of tokens: rows, and what is left at the
  /// ends of files.
  void begin(const Data &data, uint64_t done, uint64_t count);
  void show(const StepResult &result);
  void show(const EvaluationResult &result);
  void log(const std::string &line) { file.writeLine(line); }
  void print(const std::string &text) { results.write(text); }

  /// Throws Rejected where a line, or one of the log, could not be written. That was said when it happened; training
  /// went on.
  void checkWritten() const;

private:
  void record(const LogRecord &record);
  void showBar(uint64_t step) const;

  Log file;
  std::optional<TensorBoard> charts;
  Lines results{"standard output", stdout};
  uint64_t done = 0, steps = 0; ///< by runs before this; of the run
  uint64_t tokensOfSample = 0;  ///< 0: the data are no stream of tokens
  double seconds = 0;           ///< of the steps of this run
  const double productSeconds;  ///< of a step, at the device's rate; 0: it is not known
  std::string lastEvaluation;   ///< for the bar
  const bool bar, showsData;    ///< what is generated stands on the standard output alone
};

} // namespace xlc::runtime

#endif
