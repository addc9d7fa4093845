// What --generate does: one token after the other, each drawn from the logits that the evaluating program gives for the
// position of the last one. All samples of a step are the same window, the last S tokens, S being the length of a
// row. The rank that has the logits of the first sample draws, and all ranks get the token when they meet.
//
//     window    t[0] ... t[n-1]  0 ... 0      of fewer than S tokens; a causal model reads none behind t[n-1]
//     logits    [sample, S, classes]          position n - 1 (of S tokens or more: S - 1)
#ifndef XLC_LIB_RUNTIME_JOB_GENERATION_H
#define XLC_LIB_RUNTIME_JOB_GENERATION_H

#include "Device/DataSource.h"
#include "Device/Executor.h"
#include "Failure.h"
#include "Options.h"

#include <string>
#include <vector>

namespace xlc::runtime {

/// What the model predicts has a value that is not finite: exit 7.
struct NotFinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Generation : public DataSource, public OutputSink {
public:
  /// Reads the prompt. Throws Rejected where the program cannot generate, with what it lacks.
  Generation(const Plan &plan, const Options &options);

  /// A rank, and how it meets the others.
  struct Turn {
    int rank;
    bool isFirstOfProcess;
    Executor &program;
    Fabric &fabric;
    Pulse *pulse;
    Request &request;
    std::function<bool()> isStopped; ///< meets all others, and says the same to all
  };
  /// All tokens, as one rank takes part in them, or those until it is stopped. Rank 0 prints each as it comes.
  void run(const Turn &turn, const std::function<void(const std::string &)> &print);

  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override;
  bool takes(uint32_t output, uint64_t step, uint32_t microBatch, int rank) const override;
  void take(uint32_t output, uint64_t step, uint32_t microBatch, int rank, const char *samples) override;

private:
  void findInput();
  void findLogits();
  void readPrompt();
  /// Of the process, when all ranks have met behind a step: takes the token that was drawn, and returns it as it is
  /// printed.
  std::string append();
  void giveRow(uint32_t index, uint64_t number, const Take &take) const;
  uint64_t draw(const std::vector<float> &scores, uint64_t step) const;

  const Plan &plan;
  const Options::Generate choice;
  const uint64_t seed;
  uint32_t tokenInput = 0, logits = 0; ///< of the plan's inputs and outputs
  uint64_t length = 0, classes = 0;    ///< tokens of a row; elements of a position's logits
  bool areBytes = false;               ///< tokens are printed as such
  std::vector<int64_t> tokens;         ///< the prompt, and those that were generated
  Request *told = nullptr;
};

} // namespace xlc::runtime

#endif
