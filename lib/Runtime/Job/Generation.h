// Implements --generate: one token after the other, each drawn from the logits of the evaluating program for the
// position of the last one. All samples of a step are the same window, the last S tokens, where S is the length of a
// row. The rank with the logits of the first sample draws the token, and all ranks get it when they meet.
//
//     window    t[0] ... t[n-1]  0 ... 0      if n < S; a causal model reads none after t[n-1]
//     logits    [sample, S, classes]          position n - 1 (with S tokens or more: S - 1)
#ifndef XLC_LIB_RUNTIME_JOB_GENERATION_H
#define XLC_LIB_RUNTIME_JOB_GENERATION_H

#include "Device/DataSource.h"
#include "Device/Executor.h"
#include "Failure.h"
#include "Options.h"

#include <string>
#include <vector>

namespace xlc::runtime {

/// The model predicts a value that is not finite: exit 7.
struct NotFinite : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Generation : public DataSource, public OutputSink {
public:
  /// Reads the prompt. Throws Rejected with the missing requirement if the program cannot generate.
  Generation(const Plan &plan, const Options &options);

  /// A rank, and its meetings with the others.
  struct Turn {
    int rank;
    bool isFirstOfProcess;
    Executor &program;
    Fabric &fabric;
    Pulse *pulse;
    Request &request;
    std::function<bool()> isStopped; ///< meets all other ranks and returns the same value on all
  };
  /// Generates all tokens, or those until a stop, from the view of one rank. Rank 0 prints each one immediately.
  void run(const Turn &turn, const std::function<void(const std::string &)> &print);

  void load(uint32_t input, uint64_t step, uint32_t microBatch, int rank, const Take &take) const override;
  bool takes(uint32_t output, uint64_t step, uint32_t microBatch, int rank) const override;
  void take(uint32_t output, uint64_t step, uint32_t microBatch, int rank, const char *samples) override;

private:
  void findInput();
  void findLogits();
  void readPrompt();
  /// Called by the process when all ranks have met after a step: adds the drawn token and returns it in printed form.
  std::string append();
  void giveRow(uint32_t index, uint64_t number, const Take &take) const;
  uint64_t draw(const std::vector<float> &scores, uint64_t step) const;

  const Plan &plan;
  const Options::Generate choice;
  const uint64_t seed;
  uint32_t tokenInput = 0, logits = 0; ///< indices of the plan's inputs and outputs
  uint64_t length = 0, classes = 0;    ///< tokens of a row; elements of a position's logits
  bool areBytes = false;               ///< tokens are printed as bytes
  std::vector<int64_t> tokens;         ///< the prompt, then the generated tokens
  Request *told = nullptr;
};

} // namespace xlc::runtime

#endif
