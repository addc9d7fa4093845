// Verifies the compiled program call by call. The runtime loads and runs the object file that `xlc compile` would link,
// on the arenas of simulated ranks. The results of every call are compared with its kernel's ops in double precision on
// the same input bytes. docs/rationale/Verify.md states what this proves.
#ifndef XLC_VERIFY_VERIFYKERNELS_H
#define XLC_VERIFY_VERIFYKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <set>
#include <string>
#include <vector>

namespace xlc::verify {

struct KernelOptions {
  uint64_t seed = 0; ///< of parameters and rows
  int64_t steps = 2;
  /// Maximum number of differences listed in the report, one for each call of a kernel; all are counted.
  size_t maximalDifferences = 10;
};

/// Elements of sixteen bits, compared with the interpreter's results in floats for the same bytes, with rounding at the
/// same places.
struct NarrowCount {
  int64_t elements = 0;
  int64_t differing = 0; ///< with different bits
  int64_t apart = 0;     ///< those among them that are not neighbours
  int64_t farthest = 0;  ///< in ulps

  std::string describe(llvm::StringRef whose) const;
};
struct NarrowCounts {
  NarrowCount products;           ///< computed by a library: products of matrices, attention
  NarrowCount attentionGradients; ///< of attention; each is a product of differences
  NarrowCount generated;          ///< kernels
};

struct KernelReport {
  int64_t steps = 0, ranks = 0;
  int64_t evaluations = 0;   ///< after the steps, each with the rows of a step; 0: the program has no evaluation
  int64_t kernels = 0;       ///< of the program: generated ones and library calls
  std::set<std::string> ran; ///< kernels that ran
  int64_t calls = 0;         ///< on all ranks and in all steps
  int64_t messages = 0;      ///< collectives and transfers, each counted on every rank
  int64_t elements = 0;      ///< compared
  int64_t differing = 0;     ///< outside their bound
  int64_t turned = 0;        ///< elements outside that an open comparison explains, if they are few
  int64_t boundless = 0;     ///< elements whose rounding error is not bounded
  std::string boundlessCall; ///< the first call with such elements
  NarrowCounts narrow;       ///< not checked: within the bounds
  std::vector<std::string> differences;

  bool isEqual() const { return differing == 0; }
  std::string summary() const;
};

/// Runs the program in `object` and verifies it with `program`, the result of Memory before Lower. A program that
/// evaluates does so after each step, on rows of which the last is after the end of the data. A program that cannot run
/// is an error; differences are in the report.
llvm::FailureOr<KernelReport> verifyKernels(mlir::ModuleOp program, llvm::MemoryBufferRef object,
                                            const KernelOptions &options);

/// An estimate of the time of a verification, available before it starts: on one core, accurate to a factor of about
/// two.
double estimateSeconds(mlir::ModuleOp program, int64_t steps);

} // namespace xlc::verify

#endif
