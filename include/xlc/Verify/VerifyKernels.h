// The compiled program, judged call by call: the object file that `xlc compile` would link is loaded and run by the
// runtime on the arenas of simulated ranks, and what every call leaves behind is compared with its kernel's ops in
// double precision on the same input bytes. docs/rationale/Verify.md says what that proves.
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
  /// Differences listed in the report, one for each call of a kernel; all are counted.
  size_t maximalDifferences = 10;
};

/// Elements of sixteen bits, beside what the interpreter makes of the same bytes in floats, rounding at the same places.
struct NarrowCount {
  int64_t elements = 0;
  int64_t differing = 0; ///< have other bits
  int64_t apart = 0;     ///< of these, those that are not neighbours
  int64_t farthest = 0;  ///< in ulps

  std::string describe(llvm::StringRef whose) const;
};
struct NarrowCounts {
  NarrowCount products;           ///< what a library makes: products of matrices, attention
  NarrowCount attentionGradients; ///< of which each is a product of differences
  NarrowCount generated;          ///< kernels
};

struct KernelReport {
  int64_t steps = 0, ranks = 0;
  int64_t evaluations = 0;   ///< behind the steps, of a step each; 0: the program evaluates nothing
  int64_t kernels = 0;       ///< of the program: generated ones and library calls
  std::set<std::string> ran; ///< of these, those that ran
  int64_t calls = 0;         ///< on all ranks and in all steps
  int64_t messages = 0;      ///< collectives and transfers, each counted on every rank
  int64_t elements = 0;      ///< compared
  int64_t differing = 0;     ///< further off than their bound
  int64_t turned = 0;        ///< of elements further off, those that an open comparison explains, and not too many
  int64_t boundless = 0;     ///< elements for which rounding could make anything
  std::string boundlessCall; ///< the first that has such
  NarrowCounts narrow;       ///< not a judgement: what bounds allow
  std::vector<std::string> differences;

  bool isEqual() const { return differing == 0; }
  std::string summary() const;
};

/// Runs the program in `object` and judges it by `program`: what Memory left, before Lower. A program that evaluates does
/// so behind each step, on rows of which the last one is behind the end of the data. What keeps it from running is an
/// error; a difference is in the report.
llvm::FailureOr<KernelReport> verifyKernels(mlir::ModuleOp program, llvm::MemoryBufferRef object,
                                            const KernelOptions &options);

/// What judging takes, before it starts: on one core, to a factor of two or so.
double estimateSeconds(mlir::ModuleOp program, int64_t steps);

} // namespace xlc::verify

#endif
