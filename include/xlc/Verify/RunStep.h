// One step of the compiled program of one rank, in this process, on rows and values that the caller gives.
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
  /// Reads it after the step.
  llvm::function_ref<void(llvm::StringRef name, llvm::ArrayRef<float>)> read;
  std::chrono::steady_clock::time_point end; ///< when the step is given up
};

/// What keeps a step from being run, or its result.
struct StepOutcome {
  double loss = 0;
  bool isLate = false; ///< it was given up
};

/// Runs one step of the program in `object`, which is for one rank of this machine's processor, with one micro-batch. A
/// program that cannot be run so is an error.
llvm::Expected<StepOutcome> runStep(llvm::MemoryBufferRef object, const StepRequest &request);

} // namespace xlc::verify

#endif
