// Runs one step of the compiled program of one rank, in this process, on rows and values of the caller.
#ifndef XLC_VERIFY_RUNSTEP_H
#define XLC_VERIFY_RUNSTEP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <chrono>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace xlc::verify {

/// All rows of an input, row-major. They are converted to the type that the program loads.
using Rows = std::variant<std::vector<double>, std::vector<int64_t>>;

struct StepRequest {
  std::map<std::string, Rows> rows; ///< by the names of the program's inputs
  /// Fills a parameter or a buffer of this name. May throw runtime::Rejected.
  llvm::function_ref<void(llvm::StringRef name, llvm::MutableArrayRef<float>)> fill;
  /// Reads a parameter or a buffer after the step.
  llvm::function_ref<void(llvm::StringRef name, llvm::ArrayRef<float>)> read;
  std::chrono::steady_clock::time_point end; ///< time at which the step is aborted
};

/// The reason why a step did not run, or its result.
struct StepOutcome {
  double loss = 0;
  bool isLate = false; ///< it was aborted
};

/// Runs one step of the program in `object`, compiled for one rank on this machine's processor, with one micro-batch. A
/// program that cannot be run in this way is an error.
llvm::Expected<StepOutcome> runStep(llvm::MemoryBufferRef object, const StepRequest &request);

} // namespace xlc::verify

#endif
